package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.support.SchedulingClock;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the order of waiters: a release keeps the lock for the claim that has waited
 * longest.
 */
class JdbcTurnTests extends OnEveryDatabase {

	private static final Duration LONG = Duration.ofSeconds(30);

	/** The time by which claims measure how long they have waited, in nanoseconds. */
	private final AtomicLong time = new AtomicLong();

	/** Returns a backend whose releases keep the lock for the given time. */
	private LockBackend keepingFor(Database database, Duration time) {
		HikariDataSource pool = opened(database, 3);
		return track(new JdbcLockBackend(pool, new JdbcLockOptions("test", JdbcContract.TABLE, time, false),
				new StoppedClock(this.time)));
	}

	private static Claim waiting(LockName lock, LockMode mode) {
		return new Claim(lock, OwnerId.random(), mode, LONG, true, LONG, false);
	}

	private static Claim waiting(LockName lock) {
		return waiting(lock, LockMode.EXCLUSIVE);
	}

	private static Claim nonWaiting(LockName lock) {
		return nonWaiting(lock, LockMode.EXCLUSIVE);
	}

	@ParameterizedTest
	@EnumSource
	void releaseKeepsTheLockForAWaiter(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		Claim waiter = waiting(lock);
		refused(store, waiter);
		released(store, held);
		refused(store, nonWaiting(lock));
		refused(store, nonWaiting(lock, LockMode.SHARED));
		assertThat(answer(store.release(held))).isInstanceOf(ReleaseResult.NotHeld.class);
		Grant next = granted(store, waiter);
		assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		released(store, next);
		Grant last = granted(store, nonWaiting(lock));
		assertThat(last.storeToken()).isGreaterThan(next.storeToken());
		released(store, last);
	}

	@ParameterizedTest
	@EnumSource
	void releaseKeepsTheLockForAReaderAndOthersJoinIt(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		Claim reader = waiting(lock, LockMode.SHARED);
		refused(store, reader);
		released(store, held);
		refused(store, nonWaiting(lock));
		Grant first = granted(store, reader);
		Grant second = granted(store, nonWaiting(lock, LockMode.SHARED));
		assertThat(first.storeToken()).isGreaterThan(held.storeToken());
		refused(store, nonWaiting(lock));
		released(store, first);
		released(store, second);
		released(store, granted(store, nonWaiting(lock)));
	}

	@ParameterizedTest
	@EnumSource
	void longestWaiterComesFirst(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		Claim first = waiting(lock);
		Claim second = waiting(lock);
		Claim third = waiting(lock);
		refused(store, first);
		refused(store, second);
		released(store, held);
		this.time.addAndGet(LONG.toNanos());
		refused(store, third);
		refused(store, second);
		refused(store, third);
		released(store, granted(store, first));
		refused(store, third);
		released(store, granted(store, second));
		released(store, granted(store, third));
	}

	@ParameterizedTest
	@EnumSource
	void abandonedWaiterKeepsNothing(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		for (LockMode mode : LockMode.values()) {
			LockName lock = newLock();
			Grant held = granted(store, nonWaiting(lock));
			Claim early = waiting(lock, mode);
			refused(store, early);
			answer(store.abandon(early));
			released(store, held);
			held = granted(store, nonWaiting(lock));
			Claim late = waiting(lock, mode);
			refused(store, late);
			released(store, held);
			answer(store.abandon(late));
			released(store, granted(store, nonWaiting(lock)));
		}
	}

	@ParameterizedTest
	@EnumSource
	void absentWaiterLosesItsTurn(Database database) throws Exception {
		LockBackend store = keepingFor(database, Duration.ofMillis(1));
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		Claim absent = waiting(lock);
		refused(store, absent);
		released(store, held);
		Grant next = soonGranted(store, nonWaiting(lock));
		assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		refused(store, absent);
		released(store, next);
		Grant last = soonGranted(store, absent);
		assertThat(last.storeToken()).isGreaterThan(next.storeToken());
		released(store, last);
	}

	@ParameterizedTest
	@EnumSource
	void claimThatDoesNotWaitGetsNoTurn(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		refused(store, nonWaiting(lock));
		refused(store, nonWaiting(lock, LockMode.SHARED));
		released(store, held);
		released(store, granted(store, nonWaiting(lock)));
	}

	@ParameterizedTest
	@EnumSource
	void leasePassesFromCallerToCaller(Database database) throws Exception {
		LockName lock = newLock();
		LockRequest request = LockRequest.of(lock.name(), lock.key());
		LockBackends backends = new LockBackends(List.of(keepingFor(database, LONG)), JdbcLockBackend.NAME);
		try (LockEngine engine = new LockEngine(backends, settings().waitTime(LONG).handoff(2, LONG).build(),
				TransactionBoundary.NONE, List.of())) {
			EngineInspector inspector = new EngineInspector(engine, backends, (event) -> {
			});
			LockHandle first = engine.acquire(request);
			CompletionStage<LockHandle> second = engine.acquireAsync(request);
			Awaitility.await("a waiter").atMost(BOUND).until(() -> !inspector.waiting().isEmpty());
			Claim elsewhere = waiting(lock);
			LockBackend other = keepingFor(database, LONG);
			refused(other, elsewhere);
			first.close();
			try (LockHandle next = answer(second)) {
				assertThat(next.ownerId()).isEqualTo(first.ownerId());
				assertThat(next.fencingToken()).isGreaterThan(first.fencingToken());
				refused(other, elsewhere);
			}
			released(other, soonGranted(other, elsewhere));
		}
	}

	@ParameterizedTest
	@EnumSource
	void databaseKnowsThatNoClaimWaitsOnlyIfNoneHasWaitedLately(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock));
		refused(store, nonWaiting(lock));
		assertThat(answer(store.find(lock)).waiters()).isZero();
		Claim first = waiting(lock);
		refused(store, first);
		refused(store, waiting(lock));
		answer(store.abandon(first));
		assertThat(answer(store.find(lock)).waiters()).as("the second claim waits, but is not named").isNull();
		released(store, held);
	}

	@ParameterizedTest
	@EnumSource
	void waitersBehindReadersAreNotKnown(Database database) throws Exception {
		LockBackend store = keepingFor(database, LONG);
		LockName lock = newLock();
		Grant held = granted(store, nonWaiting(lock, LockMode.SHARED));
		assertThat(answer(store.find(lock)).waiters()).isNull();
		released(store, held);
	}

	/** The thread that passes the lease on asks the database, and others take it over. */
	@ParameterizedTest
	@EnumSource
	void leaseOutlivesItsTurnWhileNoOtherInstanceWaits(Database database) throws Exception {
		LockName lock = newLock();
		Duration turn = Duration.ofMillis(200);
		Map<String, Long> starts = new ConcurrentHashMap<>();
		CompletableFuture<Void> outlived = new CompletableFuture<>();
		LockBackends backends = new LockBackends(List.of(keepingFor(database, LONG)), JdbcLockBackend.NAME);
		try (LockEngine engine = new LockEngine(backends, settings().waitTime(LONG).handoff(1024, turn).build(),
				TransactionBoundary.NONE, List.of())) {
			Runnable caller = () -> {
				while (!outlived.isDone()) {
					try (LockHandle handle = engine.acquire(LockRequest.of(lock.name(), lock.key()))) {
						LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
						long now = System.nanoTime();
						if (now - starts.computeIfAbsent(handle.ownerId(), (lease) -> now) > 2 * turn.toNanos()) {
							outlived.complete(null);
						}
					}
				}
			};
			Stream.generate(() -> new Thread(caller)).limit(4).forEach(Thread::start);
			assertThat(outlived).succeedsWithin(BOUND);
		}
	}

	/** A clock that a test sets. */
	private record StoppedClock(AtomicLong time) implements SchedulingClock {

		@Override
		public long nanos() {
			return this.time.get();
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			throw new UnsupportedOperationException("Claims on a database schedule nothing");
		}

	}

}
