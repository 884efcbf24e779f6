package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the connections of advisory locks: their pool gets them back as they were,
 * and unsuitable ones are rejected.
 */
class AdvisoryConnectionTests {

	@AutoClose
	private static final AdvisoryFixture postgres = new AdvisoryFixture();

	private final LockName lock = LockName.of("connection", UUID.randomUUID().toString());

	@Test
	void responseTimeoutMayBeLongerThanTheServerCanCount() throws Exception {
		AdvisoryLockBackend patient = new AdvisoryLockBackend(postgres.pool(2), postgres.pool(1),
				new AdvisoryLockOptions("test", JdbcContract.TABLE, Duration.ofDays(30), false));
		Grant held = granted(patient, claim(this.lock));
		Claim waiter = claim(this.lock).withRemainingWait(Duration.ofDays(2));
		CompletionStage<?> signal = refused(patient, waiter);
		postgres.awaitWaiters(1);
		released(patient, held);
		assertThat(answer(signal)).isNotNull();
		released(patient, granted(patient, waiter));
		patient.close();
	}

	@Test
	void connectionReturnsToItsPoolAsItWas() throws Exception {
		HikariDataSource pool = postgres.pool(1);
		pool.addDataSourceProperty("ApplicationName", "shop");
		pool.addDataSourceProperty("options", "-c idle_session_timeout=1h -c lock_timeout=7s");
		pool.setAutoCommit(false);
		Map<String, Object> before = settings(pool);
		AdvisoryLockBackend store = postgres.backend(pool);
		Grant grant = granted(store, claim(this.lock));
		assertThat(renewed(store, grant).isRenewed().toCompletableFuture()).isCompletedWithValue(true);
		released(store, grant);
		assertThat(settings(pool)).isEqualTo(before);
		AdvisoryLockBackend other = postgres.backend(postgres.pool(1));
		Grant holder = granted(other, claim(this.lock));
		ask(store, claim(this.lock).withRemainingWait(Duration.ZERO));
		assertThat(settings(pool)).as("after a rejection").isEqualTo(before);
		awaitSignal(refused(store, claim(this.lock).withRemainingWait(Duration.ofMillis(200))));
		assertThat(settings(pool)).as("after a wait").isEqualTo(before);
		Claim withdrawn = claim(this.lock);
		refused(store, withdrawn);
		postgres.awaitWaiters(1);
		answer(store.abandon(withdrawn));
		assertThat(settings(pool)).as("after a withdrawal").isEqualTo(before);
		Claim waiter = claim(this.lock);
		CompletionStage<?> signal = refused(store, waiter);
		released(other, holder);
		awaitSignal(signal);
		released(store, granted(store, waiter));
		assertThat(settings(pool)).as("after a hold that waited").isEqualTo(before);
		postgres.awaitNothingLeft(store, pool);
	}

	/** Includes the session, so that a connection that was replaced is noticed. */
	private static Map<String, Object> settings(DataSource pool) throws SQLException {
		try (Connection connection = pool.getConnection()) {
			SingleConnectionDataSource same = new SingleConnectionDataSource(connection, true);
			return Map.of("timeout", connection.getNetworkTimeout(), "autocommit", connection.getAutoCommit(), "server",
					JdbcClient.create(same)
						.sql("SELECT pg_backend_pid(), current_setting('application_name') AS name,"
								+ " current_setting('idle_session_timeout') AS idle,"
								+ " current_setting('lock_timeout') AS lock, current_setting('synchronous_commit')")
						.query()
						.singleRow());
		}
	}

	/** The stack of the caller may end anywhere. */
	@ParameterizedTest
	@ValueSource(strings = { "getMetaData", "isWrapperFor" })
	void errorBeforeTheFirstStatementReturnsTheConnection(String method) throws Exception {
		HikariDataSource pool = postgres.pool(1);
		AdvisoryLockBackend store = postgres.backend(HookedConnections.before(pool, method, "", () -> {
			throw new StackOverflowError();
		}));
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> store.tryAcquire(claim(this.lock)));
		postgres.awaitNothingLeft(store, pool);
	}

	@Test
	void exhaustedPoolIsReportedWithItsSetting() throws Exception {
		HikariDataSource pool = postgres.pool(1);
		pool.setConnectionTimeout(250);
		AdvisoryLockBackend store = postgres.backend(pool);
		Grant grant = soonGranted(store, claim(this.lock));
		AcquireResult result = ask(store, claim(LockName.of("another")));
		assertThat(((AcquireResult.Indeterminate) result).cause()).isInstanceOf(LockBackendException.class)
			.hasMessageContaining("The connection pool for locks is exhausted")
			.hasMessageContaining("'distributed-lock.jdbc.data-source'");
		assertThat(store.status().toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.withMessageContaining("The connection pool for locks is exhausted");
		assertThat(renewed(store, grant).isRenewed().toCompletableFuture()).isCompletedWithValue(true);
		assertThat(answer(store.confirm(grant))).isTrue();
		released(store, grant);
		assertThat(answer(store.status()).details()).containsEntry("mode", "advisory");
	}

	/** A standby that has not been promoted, for example. */
	@Test
	void databaseThatRejectsChangesIsReportedWithTheRemedy() throws Exception {
		HikariDataSource pool = postgres.pool(1);
		pool.setConnectionInitSql("SET default_transaction_read_only = on");
		AcquireResult result = ask(postgres.backend(pool), claim(this.lock));
		assertThat(((AcquireResult.Indeterminate) result).cause()).isInstanceOf(LockBackendException.class)
			.hasMessageContaining("Connect to the primary server");
	}

	@Test
	void otherDatabaseIsRejected() {
		DriverManagerDataSource h2 = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		try (AdvisoryLockBackend store = new AdvisoryLockBackend(h2, h2, options("holdfast_lock"))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("needs PostgreSQL 14 or later, but the database is H2")
				.withMessageContaining("'distributed-lock.jdbc.mode=rows'");
		}
	}

	@Test
	void olderVersionIsRejected() {
		DataSource old = changed((method, real) -> method.equals("getMetaData")
				? proxy(DatabaseMetaData.class, real, (name, result) -> switch (name) {
					case "getDatabaseMajorVersion" -> 13;
					case "getDatabaseProductVersion" -> "13.22";
					default -> result;
				}) : real);
		try (AdvisoryLockBackend store = new AdvisoryLockBackend(old, old, options("holdfast_lock"))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("needs PostgreSQL 14 or later, but the database is PostgreSQL 13.22");
			assertThat(store.tryAcquire(claim(this.lock)).toCompletableFuture()).as("without a check at startup")
				.failsWithin(BOUND)
				.withThrowableThat()
				.withMessageContaining("but the database is PostgreSQL 13.22");
		}
	}

	@Test
	void missingSequenceIsReportedWithItsScript() {
		AdvisoryLockBackend store = new AdvisoryLockBackend(postgres.pool(1), postgres.pool(1), options("missing"));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
			.withMessageContaining("'missing_token'")
			.withMessageContaining("advisory-schema.sql");
		assertThat(store.tryAcquire(claim(this.lock)).toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.withMessageContaining("'missing_token'");
		assertThat(postgres.locks()).isEmpty();
	}

	/** The statement fails while it has the lock, which its failure does not release. */
	@Test
	void claimThatGetsNoTokenKeepsNoLock() throws Exception {
		postgres.admin.sql(AdvisoryLockBackend.schema("exhausted")).update();
		postgres.admin.sql("SELECT setval('exhausted_token', 9007199254740991)").query(Long.class).single();
		HikariDataSource pool = postgres.pool(1);
		try (AdvisoryLockBackend store = new AdvisoryLockBackend(pool, pool, options("exhausted"))) {
			assertThat(ask(store, claim(this.lock))).isInstanceOf(AcquireResult.Indeterminate.class);
			postgres.awaitNothingLeft(store, pool);
			AdvisoryLockBackend other = postgres.backend(postgres.pool(1));
			Grant holder = granted(other, claim(this.lock));
			CompletionStage<?> signal = refused(store, claim(this.lock));
			postgres.awaitWaiters(1);
			released(other, holder);
			awaitSignal(signal);
			postgres.awaitNothingLeft(store, pool);
			released(other, granted(other, claim(this.lock)));
		}
	}

	@Test
	void userWithoutPermissionIsReported() {
		postgres.admin.sql("CREATE USER guest").update();
		HikariDataSource pool = postgres.pool(1);
		pool.setUsername("guest");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(new AdvisoryLockBackend(pool, pool, options("holdfast_lock"))::verify)
			.withMessageContaining("USAGE and UPDATE");
	}

	@Test
	void databaseThatRejectsWritesIsNotAvailable() {
		HikariDataSource pool = postgres.pool(1);
		pool.addDataSourceProperty("options", "-c default_transaction_read_only=on");
		assertThat(postgres.backend(pool).status().toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.withMessageContaining("Connect to the primary server");
		assertThat(postgres.locks()).isEmpty();
	}

	/** Each statement gets the session of another connection, as behind a pooler. */
	@Test
	void poolerThatSharesSessionsIsDetected() throws Exception {
		try (Connection one = postgres.pool(1).getConnection(); Connection two = postgres.pool(1).getConnection()) {
			int[] statements = { 0 };
			DataSource shared = new DelegatingDataSource(postgres.pool(1)) {
				@Override
				public Connection getConnection() throws SQLException {
					Connection own = super.getConnection();
					return proxy(Connection.class, (method, result) -> result,
							(method) -> method.equals("prepareStatement") ? ((statements[0]++ % 2 == 0) ? one : two)
									: own);
				}
			};
			AdvisoryLockBackend store = postgres.backend(shared);
			assertThat(store.tryAcquire(claim(this.lock)).toCompletableFuture()).failsWithin(BOUND)
				.withThrowableThat()
				.withMessageContaining("reached different sessions of PostgreSQL")
				.withMessageContaining("PgBouncer");
		}
	}

	/** A pooler that always has a free session gives the same one to each connection. */
	@Test
	void sessionThatTwoConnectionsShareIsDetected() throws Exception {
		try (Connection one = postgres.pool(1).getConnection()) {
			DataSource shared = new DelegatingDataSource(postgres.pool(2)) {
				@Override
				public Connection getConnection() throws SQLException {
					Connection own = super.getConnection();
					return proxy(Connection.class, (method, result) -> result,
							(method) -> method.equals("prepareStatement") ? one : own);
				}
			};
			AdvisoryLockBackend store = postgres.backend(shared);
			Grant held = granted(store, claim(this.lock));
			assertThat(store.tryAcquire(claim(LockName.of("other"))).toCompletableFuture()).failsWithin(BOUND)
				.withThrowableThat()
				.withMessageContaining("Another connection has used the same session")
				.withMessageContaining("PgBouncer");
			released(store, held);
		}
	}

	private static AdvisoryLockOptions options(String table) {
		return new AdvisoryLockOptions("test", table, AdvisoryFixture.RESPONSE_TIMEOUT, false);
	}

	private static DataSource changed(BiFunction<String, Object, Object> change) {
		return new DelegatingDataSource(postgres.pool(1)) {
			@Override
			public Connection getConnection() throws SQLException {
				return proxy(Connection.class, super.getConnection(), change);
			}
		};
	}

	private static <T> T proxy(Class<T> type, Object target, BiFunction<String, Object, Object> change) {
		return proxy(type, change, (method) -> target);
	}

	private static <T> T proxy(Class<T> type, BiFunction<String, Object, Object> change,
			Function<String, Object> targets) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (self, method, arguments) -> {
				try {
					return change.apply(method.getName(), method.invoke(targets.apply(method.getName()), arguments));
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

}
