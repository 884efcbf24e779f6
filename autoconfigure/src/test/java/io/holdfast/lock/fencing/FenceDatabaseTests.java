package io.holdfast.lock.fencing;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an inner transaction asks the databases, and for a data source whose
 * connections have different URLs of one database.
 */
class FenceDatabaseTests {

	private final CountDownLatch asked = new CountDownLatch(1);

	private final CountDownLatch begun = new CountDownLatch(1);

	private static void holding(String key, Runnable action) {
		Runnable unbind = LockContext.bind(TestHold.of(key, 10, "a"));
		try {
			action.run();
		}
		finally {
			unbind.run();
		}
	}

	/** Such as the first two transactions after the start. */
	@Test
	void innerTransactionDoesNotWaitIfAnotherThreadLearnsAnotherUrl() throws InterruptedException {
		Thread first = Thread.currentThread();
		TransactionTemplate outer = new TransactionTemplate(
				manager(() -> (Thread.currentThread() == first) ? "jdbc:one" : lateUrl()));
		TransactionTemplate inner = new TransactionTemplate(outer.getTransactionManager());
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		CompletableFuture<Void> other = CompletableFuture
			.runAsync(() -> holding("43", () -> outer.executeWithoutResult((status) -> {
			})));
		assertThat(this.asked.await(30, TimeUnit.SECONDS)).isTrue();
		AtomicBoolean ran = new AtomicBoolean();
		holding("42", () -> outer.executeWithoutResult((status) -> {
			this.begun.countDown();
			other.join();
			inner.executeWithoutResult((nested) -> ran.set(true));
		}));
		assertThat(ran).isTrue();
	}

	/** Only the outer one has passed, with a hold that is bound to no thread. */
	@Test
	void innerTransactionWithoutHoldsAsksNoDatabase() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:asked;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		AtomicInteger statements = new AtomicInteger();
		DataSource observed = new DelegatingDataSource(dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				return changed(Connection.class, super.getConnection(), "createStatement", (statement) -> {
					statements.incrementAndGet();
					return statement;
				});
			}

		};
		TransactionFence fence = TestFence.of(observed);
		TransactionTemplate outer = new TransactionTemplate(TestFence.manager(observed, fence));
		TransactionTemplate inner = new TransactionTemplate(outer.getTransactionManager());
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		outer.executeWithoutResult((status) -> {
			fence.advance(TestHold.of("42", 10, "a"));
			inner.executeWithoutResult((nested) -> {
			});
		});
		assertThat(statements).hasValue(0);
	}

	/** Such as SQL Server, where the name of a table may contain that of its schema. */
	@Test
	void catalogTellsTheTablesOfAnyDatabaseApart() throws SQLException {
		try (Connection one = DriverManager.getConnection("jdbc:h2:mem:one");
				Connection two = DriverManager.getConnection("jdbc:h2:mem:two")) {
			String first = FenceSql.ANY.database(one, "dbo.fence");
			assertThat(FenceSql.ANY.hasPassed(one, "dbo.fence", first)).isTrue();
			assertThat(FenceSql.ANY.hasPassed(two, "dbo.fence", first)).isFalse();
			assertThat(FenceSql.MYSQL.database(one, "shop.fence"))
				.isEqualTo(FenceSql.MARIADB.database(two, "shop.fence"));
		}
	}

	private String lateUrl() {
		this.asked.countDown();
		try {
			assertThat(this.begun.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return "jdbc:two";
	}

	private static PlatformTransactionManager manager(Supplier<String> url) {
		DataSource dataSource = new DelegatingDataSource(
				new DriverManagerDataSource("jdbc:h2:mem:urls;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500")) {

			@Override
			public Connection getConnection() throws SQLException {
				return changed(Connection.class, super.getConnection(), "getMetaData",
						(metaData) -> changed(DatabaseMetaData.class, metaData, "getURL", (real) -> url.get()));
			}

		};
		TestFence.clear(dataSource);
		return TestFence.manager(dataSource, TestFence.of(dataSource));
	}

	private static <T> T changed(Class<T> type, Object target, String name, UnaryOperator<Object> change) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object result = method.invoke(target, arguments);
				return method.getName().equals(name) ? change.apply(result) : result;
			}));
	}

}
