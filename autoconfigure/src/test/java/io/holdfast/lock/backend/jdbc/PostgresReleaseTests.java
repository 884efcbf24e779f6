package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a release costs PostgreSQL, and for the notifications of releases.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresReleaseTests {

	private static final String MARKER = "marker";

	@AutoClose
	private final PostgresServer server = PostgresServer.started();

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	private LockBackend store;

	private JdbcClient jdbc;

	@BeforeAll
	void createTables() {
		this.pool.setJdbcUrl(this.server.jdbcUrl());
		// each backend listens for some seconds longer
		this.pool.setMaximumPoolSize(10);
		JdbcContract.createTables(this.pool);
		this.store = JdbcContract.patientBackend(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
	}

	/** A release that comes before the connection that listens sends no signal. */
	@BeforeEach
	void awaitTheListener() {
		PostgresStickyFixture.listens(this.store);
	}

	/** Sends a request from a thread of its own, because it blocks. */
	private static <T> CompletableFuture<T> sent(Supplier<CompletionStage<T>> request) {
		return CompletableFuture.supplyAsync(request).thenCompose(Function.identity());
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
			List<String> news = notifications(listener, id);
			assertThat(news).hasSize(2).endsWith(MARKER);
			assertThat(ReleaseNotice.parse(news.get(0))).extracting(ReleaseNotice::lockId, ReleaseNotice::owner)
				.containsExactly(id, waiting.owner().value());
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
		LockBackend reader = JdbcContract.backend(HookedConnections.before(this.pool, "commit", "", () -> {
			paused.countDown();
			return resumed.await(BOUND.toSeconds(), TimeUnit.SECONDS);
		}));
		CompletableFuture<AcquireResult> result = sent(
				() -> reader.tryAcquire(OnEveryDatabase.nonWaiting(lock, LockMode.SHARED)));
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
		all.removeIf((news) -> !news.equals(MARKER) && !news.startsWith(id));
		return all;
	}

	/** A listener occupies a connection for seconds. */
	@Test
	void freeLockStartsNoListener() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		LockBackend fresh = JdbcContract.patientBackend(this.pool);
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
		LockBackend late = JdbcContract.patientBackend(beforeAnnouncement(() -> this.store.release(held)));
		Grant next = granted(late, waiting(lock, LockMode.EXCLUSIVE));
		assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		released(late, next);
	}

	/** The notification came before the claim expected it. */
	@Test
	void claimForWhichTheLockIsKeptDuringItsAttemptIsGranted() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
		LockBackend late = JdbcContract.patientBackend(beforeAnnouncement(() -> this.store.release(held)));
		Claim claim = waiting(lock, LockMode.EXCLUSIVE);
		refused(this.store, claim);
		released(late, granted(late, claim));
	}

	private DataSource beforeAnnouncement(Callable<?> action) {
		return HookedConnections.before(this.pool, "prepareStatement", "Announces a claim", action);
	}

	@Slow
	@Test
	void lockedRowFailsTheRequestBeforeTheConnectionTimesOut() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		LockBackend impatient = JdbcContract.backend(this.pool);
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
		try (Connection other = this.pool.getConnection(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SELECT 1 FROM holdfast_lock WHERE lock_name = '%s' FOR UPDATE".formatted(lock));
			// one after the other: of two statements, one would wait for the other first
			assertThat(ask(impatient, waiting(lock, LockMode.EXCLUSIVE))).asString().contains("lock timeout");
			ReleaseResult release = impatient.release(held).toCompletableFuture().join();
			assertThat(release).asString().contains("lock timeout");
			other.rollback();
		}
		released(this.store, held);
	}

	/** A standby that never confirms delays every other commit. */
	@Test
	void releaseDoesNotWaitForStandbys() throws Exception {
		Grant held = granted(this.store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE));
		withMissingStandby(() -> {
			released(this.store, held);
			assertThat(waitingCommits()).isOne();
			return true;
		});
		assertThat(this.jdbc.sql("SHOW synchronous_commit").query(String.class).single()).isEqualTo("on");
		assertThat(answer(this.store.find(held.claim().lock())).holders()).isEmpty();
	}

	/** The waiter relies on this release, so a crash must not undo it. */
	@Test
	void releaseThatKeepsTheLockForAWaiterWaitsForStandbys() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
		Claim waiter = waiting(lock, LockMode.EXCLUSIVE);
		CompletionStage<?> signal = refused(this.store, waiter);
		CompletableFuture<ReleaseResult> release = withMissingStandby(() -> {
			CompletableFuture<ReleaseResult> sent = sent(() -> this.store.release(held));
			Awaitility.await().atMost(BOUND).until(() -> waitingCommits() == 2);
			assertThat(signal.toCompletableFuture()).isNotDone();
			return sent;
		});
		assertThat(release.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(ReleaseResult.Released.class);
		released(this.store, ((KeptLock) answer(signal)).grant());
	}

	/**
	 * The release first sees the row without the waiter, and waits for its announcement.
	 */
	@Test
	void releaseThatMeetsAnAnnouncementWaitsForStandbys() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
		CompletableFuture<ReleaseResult> release = withMissingStandby(() -> {
			try (Connection announcing = this.pool.getConnection(); Statement row = announcing.createStatement()) {
				announcing.setAutoCommit(false);
				row.execute("SET LOCAL synchronous_commit = off");
				row.execute(
						"UPDATE holdfast_lock SET waiter = 'next', waiter_until_us = until_us WHERE lock_name = '%s'"
							.formatted(lock));
				CompletableFuture<ReleaseResult> sent = sent(() -> this.store.release(held));
				Awaitility.await().atMost(BOUND).until(() -> waiting("transactionid") == 1);
				announcing.commit();
				Awaitility.await().atMost(BOUND).until(() -> waitingCommits() == 2 || sent.isDone());
				assertThat(sent).isNotDone();
				return sent;
			}
		});
		assertThat(release.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(ReleaseResult.Released.class);
	}

	/** Runs an action while one other commit waits for a standby. */
	private <T> T withMissingStandby(Callable<T> action) throws Exception {
		List<CompletableFuture<Void>> commits = new ArrayList<>();
		synchronousStandbys("missing");
		try {
			Awaitility.await("a commit that waits for the standby").atMost(BOUND).until(() -> {
				if (commits.stream().allMatch(CompletableFuture::isDone)) {
					commits.add(CompletableFuture.runAsync(this::commit));
				}
				return waitingCommits() > 0;
			});
			return action.call();
		}
		finally {
			synchronousStandbys("");
			for (CompletableFuture<Void> commit : commits) {
				commit.get(BOUND.toSeconds(), TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void releaseGrantsTheLockToTheFirstWaiter() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
		CompletionStage<?> first = refused(this.store, waiting(lock, LockMode.EXCLUSIVE));
		Claim later = waiting(lock, LockMode.EXCLUSIVE);
		CompletionStage<?> second = refused(this.store, later);
		released(this.store, held);
		KeptLock kept = (KeptLock) answer(first);
		assertThat(kept.grant().storeToken()).isGreaterThan(held.storeToken());
		assertThat(kept.after()).isPositive();
		assertThat(kept.time()).isPositive();
		assertThat(answer(second)).isNull();
		assertThat(renewed(this.store, kept.grant())).isInstanceOf(RenewResult.Renewed.class);
		refused(this.store, later);
		released(this.store, kept.grant());
		released(this.store, granted(this.store, later));
	}

	@Test
	void readerForWhichTheLockIsKeptAsksAgain() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, waiting(lock, LockMode.EXCLUSIVE));
		Claim reader = waiting(lock, LockMode.SHARED);
		CompletionStage<?> signal = refused(this.store, reader);
		released(this.store, held);
		assertThat(answer(signal)).isNotInstanceOf(KeptLock.class);
		released(this.store, granted(this.store, reader));
	}

	@Test
	void responseTimeoutMayBeLongerThanTheServerCanCount() throws Exception {
		LockBackend patient = new JdbcLockBackend(this.pool,
				new JdbcLockOptions("test", JdbcContract.TABLE, Duration.ofDays(30), false));
		released(patient, granted(patient, waiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE)));
		released(patient, granted(patient, waiting(OnEveryDatabase.newLock(), LockMode.SHARED)));
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
		return waiting("SyncRep");
	}

	private int waiting(String event) {
		return this.jdbc.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = ?")
			.param(event)
			.query(Integer.class)
			.single();
	}

}
