package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an inner transaction that a routing data source leads to another database
 * than the outer one. The fence of one database does not protect the other.
 */
class FencedRoutingTests {

	private final DataSource one = database("one");

	private final DataSource two = database("two");

	/** In the same database as the first one. */
	private final DataSource schema = database("one", ";INIT=CREATE SCHEMA IF NOT EXISTS S\\;SET SCHEMA S");

	private final Routing routing = new Routing(Map.of("one", this.one, "two", this.two, "schema", this.schema));

	private final TransactionTemplate outer = new TransactionTemplate(manager());

	private final TransactionTemplate inner = new TransactionTemplate(this.outer.getTransactionManager());

	private Runnable unbind;

	private static DataSource database(String name) {
		return database(name, "");
	}

	private static DataSource database(String name, String settings) {
		return withFences(new DriverManagerDataSource(
				"jdbc:h2:mem:routed-%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500".formatted(name) + settings));
	}

	private static DataSource withFences(DataSource database) {
		TestFence.clear(database);
		return database;
	}

	private DataSourceTransactionManager manager() {
		TransactionFence fence = TestFence.of(this.routing);
		DataSourceTransactionManager manager = TestFence.manager(this.routing, fence);
		return manager;
	}

	@BeforeEach
	void hold() {
		this.inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.unbind = LockContext.bind(TestHold.of("42", 10, "a"));
	}

	@AfterEach
	void release() {
		this.unbind.run();
	}

	private void inner(String route, Runnable body) {
		String before = this.routing.route;
		this.routing.route = route;
		try {
			this.inner.executeWithoutResult((status) -> body.run());
		}
		finally {
			this.routing.route = before;
		}
	}

	private static List<Long> tokens(DataSource database) {
		return new JdbcTemplate(database).queryForList("SELECT token FROM fence", Long.class);
	}

	@Test
	void innerTransactionPassesTheFenceOfItsOwnDatabase() {
		this.outer.executeWithoutResult((status) -> inner("two", () -> inner("one", () -> inner("two", () -> {
		}))));
		assertThat(tokens(this.one)).containsExactly(10L);
		assertThat(tokens(this.two)).containsExactly(10L);
	}

	@Test
	void holderThatIsStaleInItsOwnDatabaseIsRefused() {
		new JdbcTemplate(this.two).update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		this.outer.executeWithoutResult((status) -> assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> inner("two", () -> {
			})));
	}

	/** Libraries have routing data sources that are none of Spring. */
	@ParameterizedTest
	@ValueSource(strings = { "two", "schema" })
	void holderIsRefusedBehindARoutingDataSourceOfAnotherKind(String route) {
		DataSource place = route.equals("two") ? this.two : this.schema;
		new JdbcTemplate(place).update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		behindAnotherKind().executeWithoutResult((status) -> assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> inner(route, () -> {
			})));
	}

	@ParameterizedTest
	@ValueSource(strings = { "two", "schema" })
	void innerTransactionsBehindItPassEachFenceOnce(String route) {
		AtomicBoolean ran = new AtomicBoolean();
		behindAnotherKind().executeWithoutResult((status) -> {
			inner(route, () -> inner("one", () -> inner(route, () -> {
			})));
			inner("one", () -> inner(route, () -> ran.set(true)));
		});
		assertThat(ran).isTrue();
		assertThat(tokens(this.one)).containsExactly(10L);
		assertThat(tokens(route.equals("two") ? this.two : this.schema)).containsExactly(10L);
	}

	/** Makes inner transactions use the same manager. */
	private TransactionTemplate behindAnotherKind() {
		DataSource other = new OtherRouting();
		TransactionTemplate outermost = new TransactionTemplate(TestFence.manager(other, TestFence.of(other)));
		this.inner.setTransactionManager(outermost.getTransactionManager());
		return outermost;
	}

	/** Such as the endpoints of a cluster. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void innerTransactionDoesNotWaitForTheRowBehindAnotherUrl(boolean ofSpring) {
		try (PostgresServer postgres = PostgresServer.started()) {
			String url = postgres.jdbcUrl() + "&options=-c%20lock_timeout=3s";
			assertThat(url).contains("//127.0.0.1");
			this.routing.lead(Map.of("one", withFences(new DriverManagerDataSource(url)), "two",
					new DriverManagerDataSource(url.replace("//127.0.0.1", "//localhost"))));
			AtomicBoolean ran = new AtomicBoolean();
			(ofSpring ? this.outer : behindAnotherKind())
				.executeWithoutResult((status) -> inner("two", () -> ran.set(true)));
			assertThat(ran).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void holderThatIsStaleInAnotherDatabaseOfAServerIsRefused(boolean ofSpring) {
		try (PostgresServer postgres = PostgresServer.started()) {
			DataSource first = withFences(new DriverManagerDataSource(postgres.jdbcUrl()));
			new JdbcTemplate(first).execute("CREATE DATABASE second");
			DataSource second = withFences(
					new DriverManagerDataSource(postgres.jdbcUrl().replace("/postgres?", "/second?")));
			new JdbcTemplate(second).update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
			this.routing.lead(Map.of("one", first, "two", second));
			TransactionTemplate outermost = ofSpring ? this.outer : behindAnotherKind();
			outermost.executeWithoutResult((status) -> assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> inner("two", () -> {
				})));
		}
	}

	/** The pools of a database often differ in their timeouts. */
	@Test
	void innerTransactionDoesNotWaitForTheRowOfAnotherPool() {
		try (PostgresServer postgres = PostgresServer.started()) {
			String url = postgres.jdbcUrl() + "&options=-c%20lock_timeout=10s";
			this.routing.lead(Map.of("one", withFences(new DriverManagerDataSource(url)), "two",
					new DriverManagerDataSource(url + "&socketTimeout=60")));
			AtomicBoolean ran = new AtomicBoolean();
			this.outer.executeWithoutResult((status) -> inner("two", () -> ran.set(true)));
			assertThat(ran).isTrue();
		}
	}

	@Test
	void innerTransactionPassesTheFenceOfItsOwnSchema() {
		this.outer.executeWithoutResult((status) -> inner("schema", () -> {
		}));
		assertThat(tokens(this.one)).containsExactly(10L);
		assertThat(tokens(this.schema)).containsExactly(10L);
	}

	/** Leads where the routing data source of these tests leads. */
	private final class OtherRouting extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			return FencedRoutingTests.this.routing.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	/** Leads to one of several databases. */
	private static final class Routing extends AbstractRoutingDataSource {

		private String route = "one";

		Routing(Map<Object, Object> targets) {
			lead(targets);
		}

		void lead(Map<Object, Object> targets) {
			setTargetDataSources(targets);
			afterPropertiesSet();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			return this.route;
		}

	}

}
