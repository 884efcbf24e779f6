package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a release costs PostgreSQL, and for the notifications of releases.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresReleaseTests {

	private static final String MARKER = "marker";

	private final PostgresServer server = PostgresServer.started();

	private final HikariDataSource pool = new HikariDataSource();

	private LockBackend store;

	private JdbcClient jdbc;

	@BeforeAll
	void createTables() {
		this.pool.setJdbcUrl(this.server.jdbcUrl());
		this.pool.setMaximumPoolSize(4);
		JdbcContract.createTables(this.pool);
		this.store = JdbcContract.backend(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
	}

	@AfterAll
	void closeAll() {
		this.pool.close();
		this.server.close();
	}

	private static Claim waiting(LockName lock, LockMode mode) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(30), true, Duration.ofSeconds(20), false);
	}

	@ParameterizedTest
	@EnumSource
	void releaseNotifiesOnlyIfAClaimWaits(LockMode mode) throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		String id = LockDigest.of("test", lock);
		try (Connection listener = this.pool.getConnection(); Statement statement = listener.createStatement()) {
			statement.execute("LISTEN " + ReleaseNotifications.CHANNEL);
			released(this.store, granted(this.store, waiting(lock, LockMode.EXCLUSIVE)));
			Grant held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
			assertThat(ask(this.store, OnEveryDatabase.nonWaiting(lock, mode)))
				.isInstanceOf(AcquireResult.Contended.class);
			released(this.store, held);
			assertThat(notifications(listener, id)).containsExactly(MARKER);
			held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
			Claim waiting = waiting(lock, mode);
			assertThat(ask(this.store, waiting)).isInstanceOf(AcquireResult.Contended.class);
			released(this.store, held);
			assertThat(notifications(listener, id)).containsExactly(id, MARKER);
			released(this.store, granted(this.store, waiting));
			statement.execute("UNLISTEN *");
		}
	}

	/**
	 * A transaction of a process that is paused stays open: here, until the test ends.
	 */
	@Test
	void pausedReaderKeepsTheLockFromOthersForAShortTime() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		released(this.store, granted(this.store, waiting(lock, LockMode.EXCLUSIVE)));
		CountDownLatch paused = new CountDownLatch(1);
		CountDownLatch resumed = new CountDownLatch(1);
		LockBackend reader = JdbcContract.backend(pausedAtCommit(paused, resumed));
		CompletableFuture<AcquireResult> result = CompletableFuture
			.supplyAsync(() -> reader.tryAcquire(OnEveryDatabase.nonWaiting(lock, LockMode.SHARED)))
			.thenCompose(Function.identity());
		try {
			assertThat(paused.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
			Claim writer = waiting(lock, LockMode.EXCLUSIVE);
			Awaitility.await().atMost(BOUND).until(() -> ask(this.store, writer) instanceof AcquireResult.Acquired);
		}
		finally {
			resumed.countDown();
		}
		assertThat(result.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(AcquireResult.Indeterminate.class);
	}

	private DataSource pausedAtCommit(CountDownLatch paused, CountDownLatch resumed) {
		return new DelegatingDataSource(this.pool) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("commit")) {
								paused.countDown();
								resumed.await();
							}
							try {
								return method.invoke(connection, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getCause();
							}
						});
			}

		};
	}

	/** Returns the notifications of a lock up to that of a commit of its own. */
	private List<String> notifications(Connection listener, String id) throws SQLException {
		this.jdbc.sql("SELECT pg_notify('%s', '%s')".formatted(ReleaseNotifications.CHANNEL, MARKER)).query((row) -> {
		});
		List<String> all = new ArrayList<>();
		while (!all.contains(MARKER)) {
			for (PGNotification news : listener.unwrap(PGConnection.class).getNotifications((int) BOUND.toMillis())) {
				all.add(news.getParameter());
			}
		}
		all.removeIf((news) -> !news.equals(MARKER) && !news.equals(id));
		return all;
	}

	/** A listener occupies a connection for seconds. */
	@Test
	void freeLockStartsNoListener() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		LockBackend fresh = JdbcContract.backend(this.pool);
		Set<Thread> before = listeners();
		Grant held = granted(fresh, waiting(lock, LockMode.EXCLUSIVE));
		assertThat(before).containsAll(listeners());
		assertThat(ask(fresh, waiting(lock, LockMode.EXCLUSIVE))).isInstanceOf(AcquireResult.Contended.class);
		assertThat(before.containsAll(listeners())).as("no new listener").isFalse();
		released(fresh, held);
	}

	private static Set<Thread> listeners() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("holdfast-jdbc-listener"))
			.collect(Collectors.toSet());
	}

	/** Without the second attempt, the claim would miss the release. */
	@Test
	void claimThatIsAnnouncedTooLateIsGranted() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
		LockBackend late = JdbcContract.backend(before("Announces a claim", () -> this.store.release(held)));
		Grant next = granted(late, waiting(lock, LockMode.EXCLUSIVE));
		assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		released(late, next);
	}

	/** The notification came before the claim expected it. */
	@Test
	void claimForWhichTheLockIsKeptDuringItsAttemptIsGranted() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
		LockBackend late = JdbcContract.backend(before("Announces a claim", () -> this.store.release(held)));
		Claim claim = waiting(lock, LockMode.EXCLUSIVE);
		refused(this.store, claim);
		released(late, granted(late, claim));
	}

	/** Returns connections that run an action before they prepare a statement. */
	private DataSource before(String text, Runnable action) {
		return new DelegatingDataSource(this.pool) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, args) -> {
							if (method.getName().equals("prepareStatement") && args[0].toString().contains(text)) {
								action.run();
							}
							try {
								return method.invoke(connection, args);
							}
							catch (InvocationTargetException ex) {
								throw ex.getCause();
							}
						});
			}

		};
	}

	@Test
	void lockedRowFailsTheRequestBeforeTheConnectionTimesOut() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
		try (Connection other = this.pool.getConnection(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SELECT 1 FROM holdfast_lock WHERE lock_name = '%s' FOR UPDATE".formatted(lock));
			// one after the other: of two statements, one would wait for the other first
			assertThat(ask(this.store, waiting(lock, LockMode.EXCLUSIVE))).asString().contains("lock timeout");
			ReleaseResult release = this.store.release(held).toCompletableFuture().join();
			assertThat(release).asString().contains("lock timeout");
			other.rollback();
		}
		released(this.store, held);
	}

	/** A standby that never confirms delays every other commit. */
	@Test
	void releaseDoesNotWaitForStandbys() throws Exception {
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE));
		List<CompletableFuture<Void>> commits = new ArrayList<>();
		synchronousStandbys("missing");
		try {
			Awaitility.await("a commit that waits for the standby").atMost(BOUND).until(() -> {
				if (commits.stream().allMatch(CompletableFuture::isDone)) {
					commits.add(CompletableFuture.runAsync(this::commit));
				}
				return waitingCommits() > 0;
			});
			released(this.store, held);
			assertThat(waitingCommits()).isOne();
		}
		finally {
			synchronousStandbys("");
		}
		for (CompletableFuture<Void> commit : commits) {
			commit.get(BOUND.toSeconds(), TimeUnit.SECONDS);
		}
		assertThat(this.jdbc.sql("SHOW synchronous_commit").query(String.class).single()).isEqualTo("on");
		assertThat(answer(this.store.find(held.claim().lock())).holders()).isEmpty();
	}

	private void synchronousStandbys(String names) {
		this.jdbc.sql("ALTER SYSTEM SET synchronous_standby_names = '%s'".formatted(names)).update();
		this.jdbc.sql("SELECT pg_reload_conf()").query((row) -> {
		});
	}

	private void commit() {
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS note (id INT); INSERT INTO note VALUES (1)").update();
	}

	private int waitingCommits() {
		return this.jdbc.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			.query(Integer.class)
			.single();
	}

}
