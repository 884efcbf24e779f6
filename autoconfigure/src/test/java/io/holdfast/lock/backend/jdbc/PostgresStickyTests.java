package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two instances in PostgreSQL. The leases of the engines are so
 * long that a lock changes its engine only on demand.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresStickyTests {

	private static final Duration LONG = Duration.ofHours(1);

	private static final int PAIRS = 1_000;

	private final PostgresServer server = PostgresServer.started();

	private final TcpProxy wire = TcpProxy.to(this.server.port());

	private final List<AutoCloseable> opened = new ArrayList<>();

	/** Number of statements that both backends have sent. */
	private final AtomicInteger statements = new AtomicInteger();

	/** By how much the clock of the backends is ahead, in nanoseconds. */
	private final AtomicLong ahead = new AtomicLong();

	private final HikariDataSource pool = pool(this.server.port());

	private final JdbcClient jdbc = JdbcClient.create(this.pool);

	private final JdbcLockBackend first = backend(this.pool);

	private final JdbcLockBackend second = backend(this.pool);

	private LockName lock;

	@BeforeAll
	void createTables() {
		JdbcContract.createTables(this.pool);
	}

	@BeforeEach
	void chooseLock() {
		this.lock = OnEveryDatabase.newLock();
	}

	@AfterEach
	void closeEngines() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.opened.clear();
		assertThat(this.jdbc.sql("SELECT lock_name FROM holdfast_lock WHERE owner <> ''").query(String.class).list())
			.isEmpty();
		assertThat(this.first.waiting() + this.second.waiting()).isZero();
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.pool.close();
		this.wire.close();
		this.server.close();
	}

	private static HikariDataSource pool(int port) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port));
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaximumPoolSize(8);
		pool.setMinimumIdle(0);
		return pool;
	}

	private JdbcLockBackend backend(DataSource dataSource) {
		SchedulingClock clock = new SchedulingClock() {

			@Override
			public long nanos() {
				return System.nanoTime() + PostgresStickyTests.this.ahead.get();
			}

			@Override
			public Runnable after(long delayNanos, Runnable task) {
				throw new UnsupportedOperationException("Claims on a database schedule nothing");
			}

		};
		return new JdbcLockBackend(counted(dataSource),
				new JdbcLockOptions("test", JdbcContract.TABLE, JdbcContract.RESPONSE_TIMEOUT, true), clock);
	}

	private DataSource counted(DataSource dataSource) {
		return new DelegatingDataSource(dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, args) -> {
							if (method.getName().equals("prepareStatement")) {
								PostgresStickyTests.this.statements.incrementAndGet();
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

	private LockEngine engine(LockBackend backend, Duration sticky) {
		LockEngine engine = new LockEngine(new LockBackends(List.of(backend), JdbcLockBackend.NAME),
				settings().leaseTime(LONG).sticky(sticky).build(), TransactionBoundary.NONE, List.of());
		this.opened.add(engine);
		return engine;
	}

	/** Returns an engine whose leases are sticky from now on. */
	private LockEngine stickyEngine(JdbcLockBackend backend) throws Exception {
		listens(backend);
		return engine(backend, LONG);
	}

	private LockRequest request(Duration waitTime) {
		return LockRequest.forLock(this.lock).waitTime(waitTime).build();
	}

	private FencingToken token(LockEngine engine) {
		return engine.execute(request(BOUND), LockHandle::fencingToken);
	}

	private static Claim claim(LockName lock, LockMode mode, Duration remainingWait, boolean sticky) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(30), true, remainingWait, false, sticky);
	}

	private Claim sticky() {
		return claim(this.lock, LockMode.EXCLUSIVE, Duration.ZERO, true);
	}

	private Claim waiting() {
		return claim(this.lock, LockMode.EXCLUSIVE, LONG, false);
	}

	private Claim nonWaiting() {
		return claim(this.lock, LockMode.EXCLUSIVE, Duration.ZERO, false);
	}

	/**
	 * Acquires locks until a lease is sticky, which requires a connection that listens.
	 */
	static void listens(LockBackend backend) {
		Awaitility.await("a sticky lease").atMost(BOUND).until(() -> {
			Grant grant = granted(backend, claim(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE, Duration.ZERO, true));
			released(backend, grant);
			return grant.sticky();
		});
	}

	private Grant stickyGrant() throws Exception {
		listens(this.first);
		Grant grant = granted(this.first, sticky());
		assertThat(grant.sticky()).isTrue();
		assertThat(isWanted(grant)).isFalse();
		return grant;
	}

	private static boolean isWanted(Grant grant) {
		return grant.wanted().toCompletableFuture().isDone();
	}

	private static boolean demanded(LockBackend store, Claim claim) throws Exception {
		return ((AcquireResult.Contended) ask(store, claim)).demanded();
	}

	@Test
	void twoStatementsServeManyPairs() throws Exception {
		assertThat(statementsOfPairs(stickyEngine(this.first), PAIRS)).isEqualTo(2);
	}

	@Test
	void eachPairTakesTwoStatementsByDefault() {
		assertThat(statementsOfPairs(engine(this.first, Duration.ZERO), 100)).isEqualTo(2 * 100);
	}

	/** Counts the statements, including the last release, which the engine awaits. */
	private int statementsOfPairs(LockEngine engine, int pairs) {
		this.statements.set(0);
		for (int i = 0; i < pairs; i++) {
			token(engine);
		}
		engine.close();
		return this.statements.get();
	}

	/**
	 * The waiter sends a claim, its announcement, which demands the lease, and the claim
	 * again. The holder's instance sends the release.
	 */
	@Test
	void waiterGetsAnIdleLeaseWithADemandAndANotification() throws Exception {
		LockEngine one = stickyEngine(this.first);
		LockEngine other = engine(this.second, Duration.ZERO);
		listens(this.second);
		try (Connection listener = this.pool.getConnection(); Statement statement = listener.createStatement()) {
			statement.execute("LISTEN " + ReleaseNotifications.CHANNEL);
			String owner = one.execute(request(BOUND), LockHandle::ownerId);
			FencingToken before = token(one);
			this.statements.set(0);
			FencingToken after = token(other);
			assertThat(after).isGreaterThan(before);
			other.close();
			// two claims, one announcement, and the releases of both engines
			assertThat(this.statements).hasValue(5);
			assertThat(notifications(listener)).containsExactly(ReleaseNotifications.WANTED + owner,
					LockDigest.of("test", this.lock));
			statement.execute("UNLISTEN *");
		}
	}

	private List<String> notifications(Connection listener) throws SQLException {
		List<String> all = new ArrayList<>();
		this.jdbc.sql("SELECT pg_notify('%s', 'marker')".formatted(ReleaseNotifications.CHANNEL)).query((row) -> {
		});
		while (!all.contains("marker")) {
			for (PGNotification news : listener.unwrap(PGConnection.class).getNotifications((int) BOUND.toMillis())) {
				all.add(news.getParameter());
			}
		}
		// the other engine's release notifies for some seconds after its own wait
		return all.stream().filter((news) -> !news.equals("marker")).distinct().toList();
	}

	@Test
	void callerThatDoesNotWaitGetsAnIdleLease() throws Exception {
		LockEngine one = stickyEngine(this.first);
		LockEngine other = engine(this.second, Duration.ZERO);
		FencingToken before = token(one);
		Awaitility.await().atMost(BOUND).until(() -> {
			Optional<LockHandle> handle = other.tryAcquire(request(Duration.ZERO));
			handle.ifPresent((held) -> assertThat(held.fencingToken()).isGreaterThan(before));
			handle.ifPresent(LockHandle::close);
			return handle.isPresent();
		});
	}

	@Test
	void leaseInUseIsRefusedAndReleasedAtTheEndOfItsHold() throws Exception {
		LockEngine one = stickyEngine(this.first);
		LockEngine other = engine(this.second, Duration.ZERO);
		try (LockHandle held = one.acquire(request(Duration.ZERO))) {
			assertThat(other.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(held.isHeld()).isTrue();
			assertThat(owners()).isOne();
			Awaitility.await("the demand").atMost(BOUND).until(() -> demanded(this.second, nonWaiting()));
		}
		Awaitility.await("the release").atMost(BOUND).until(() -> owners() == 0);
	}

	private int owners() {
		return this.jdbc.sql("SELECT COUNT(*) FROM holdfast_lock WHERE owner <> ''").query(Integer.class).single();
	}

	@Test
	void idleLeaseIsNotTakenOverAfterAForcedReleaseThroughAnotherInstance() throws Exception {
		LockEngine one = stickyEngine(this.first);
		LockEngine other = engine(this.second, Duration.ZERO);
		token(one);
		inspector(other, this.second).forceRelease(this.lock);
		try (LockHandle next = other.acquire(request(Duration.ZERO))) {
			Awaitility.await().atMost(BOUND).until(() -> inspector(one, this.first).held().isEmpty());
			assertThat(one.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(next.isHeld()).isTrue();
		}
	}

	private static EngineInspector inspector(LockEngine engine, LockBackend backend) {
		return new EngineInspector(engine, new LockBackends(List.of(backend), JdbcLockBackend.NAME), (event) -> {
		});
	}

	@Test
	void waiterGetsTheLockOfADeadInstanceWhenItsLeaseEnds() throws Exception {
		Grant idle = granted(this.first, new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE,
				Duration.ofMillis(500), true, Duration.ZERO, false, true));
		Claim waiter = waiting();
		refused(this.second, waiter);
		Grant next = soonGranted(this.second, waiter);
		assertThat(next.storeToken()).isGreaterThan(idle.storeToken());
		released(this.second, next);
		assertThat(answer(this.first.release(idle))).isInstanceOf(ReleaseResult.NotHeld.class);
	}

	@ParameterizedTest
	@EnumSource
	void rejectedClaimDemandsTheLease(LockMode mode) throws Exception {
		for (Duration wait : List.of(Duration.ZERO, LONG)) {
			Grant idle = stickyGrant();
			Claim claim = claim(this.lock, mode, wait, false);
			assertThat(demanded(this.second, claim)).isTrue();
			awaitSignal(idle.wanted());
			answer(this.second.abandon(claim));
			released(this.first, idle);
			expireMarks();
		}
	}

	/** As if the last waiter had left long ago. */
	private void expireMarks() {
		this.jdbc.sql("UPDATE holdfast_lock SET waiter_until_us = 0").update();
	}

	@Test
	void withdrawalOfAWaiterKeepsTheLeaseSticky() throws Exception {
		Grant idle = stickyGrant();
		Claim waiter = waiting();
		refused(this.second, waiter);
		answer(this.second.abandon(waiter));
		assertThat(demanded(this.second, nonWaiting())).isTrue();
		released(this.first, idle);
	}

	@Test
	void lockThatIsKeptForAWaiterIsNotDemanded() throws Exception {
		Grant idle = stickyGrant();
		Claim waiter = waiting();
		refused(this.second, waiter);
		released(this.first, idle);
		assertThat(demanded(this.first, nonWaiting())).isFalse();
		released(this.second, granted(this.second, waiter));
	}

	@Test
	void leaseThatIsNoLongerStickyIsNotDemanded() throws Exception {
		released(this.first, stickyGrant());
		Grant plain = granted(this.first, nonWaiting());
		assertThat(demanded(this.second, nonWaiting())).isFalse();
		released(this.first, plain);
	}

	@Test
	void stickyLeaseIsWantedIfAClaimAlreadyWaits() throws Exception {
		Grant held = granted(this.second, nonWaiting());
		listens(this.first);
		Claim next = claim(this.lock, LockMode.EXCLUSIVE, LONG, true);
		refused(this.first, next);
		Claim last = waiting();
		refused(this.second, last);
		released(this.second, held);
		Grant idle = granted(this.first, next);
		awaitSignal(idle.wanted());
		released(this.first, idle);
		released(this.second, soonGranted(this.second, last));
		Grant later = granted(this.first, sticky());
		assertThat(isWanted(later)).as("demand long after the wait").isFalse();
		released(this.first, later);
	}

	@Test
	void leaseIsNotStickyBeforeTheConnectionListens() throws Exception {
		try (JdbcLockBackend fresh = backend(this.pool)) {
			Grant grant = granted(fresh, sticky());
			assertThat(grant.sticky()).isFalse();
			assertThat(demanded(this.second, nonWaiting())).isFalse();
			released(fresh, grant);
		}
	}

	@Test
	void lostConnectionDemandsAllLeases() throws Exception {
		Grant idle = stickyGrant();
		this.jdbc.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
			.query((row) -> {
			});
		awaitSignal(idle.wanted());
		released(this.first, idle);
		released(this.first, stickyGrant());
	}

	/** Without the check, the demands of other instances would be lost for hours. */
	@Test
	void silentConnectionDemandsAllLeases() throws Exception {
		try (HikariDataSource silent = pool(this.wire.port()); JdbcLockBackend far = backend(silent)) {
			listens(far);
			Grant idle = granted(far, sticky());
			this.wire.stall();
			this.ahead.addAndGet(Duration.ofMinutes(1).toNanos());
			awaitSignal(idle.wanted());
			this.wire.flow();
			released(this.first, idle);
		}
		finally {
			this.wire.flow();
		}
	}

	@Test
	void capabilityRequiresNotifications() {
		assertThat(this.first.capabilities().demand()).isTrue();
		try (JdbcLockBackend deaf = new JdbcLockBackend(this.pool,
				new JdbcLockOptions("test", JdbcContract.TABLE, JdbcContract.RESPONSE_TIMEOUT, false))) {
			assertThat(deaf.capabilities().demand()).isFalse();
		}
	}

	@Test
	void severalInstancesTakeTurns() throws Exception {
		LockEngine one = stickyEngine(this.first);
		LockEngine other = stickyEngine(this.second);
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		List<FencingToken> tokens = new ArrayList<>();
		for (LockEngine engine : List.of(one, other)) {
			callers.add(CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 20; i++) {
					engine.execute(request(BOUND), (handle) -> tokens.add(handle.fencingToken()));
				}
			}));
		}
		callers.forEach(CompletableFuture::join);
		assertThat(tokens).hasSize(40).isSorted().doesNotHaveDuplicates();
	}

}
