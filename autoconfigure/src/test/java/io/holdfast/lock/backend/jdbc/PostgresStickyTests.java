package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines on PostgreSQL. Their leases are so long that a lock
 * changes its engine only on demand.
 */
class PostgresStickyTests extends PostgresStickyFixture {

	private static final int PAIRS = 1_000;

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
