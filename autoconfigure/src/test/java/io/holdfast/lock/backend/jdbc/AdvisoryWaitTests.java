package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonRefused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for claims that wait for an advisory lock: the server grants it, or nothing stays
 * behind.
 */
class AdvisoryWaitTests {

	@AutoClose
	private static final AdvisoryFixture postgres = new AdvisoryFixture();

	@AutoClose
	private final TcpProxy wire = TcpProxy.to(postgres.server.port());

	private final HikariDataSource pool = postgres.pool(4, this.wire.port());

	private final AdvisoryLockBackend store = postgres.backend(this.pool);

	private final AdvisoryLockBackend other = postgres.backend(postgres.pool(4));

	private final LockName lock = LockName.of("wait", UUID.randomUUID().toString());

	@Test
	void releaseGrantsTheLockToTheWaiter() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		CompletionStage<?> signal = soonRefused(this.store, waiter);
		postgres.awaitWaiters(1);
		released(this.other, holder);
		KeptLock kept = (KeptLock) answer(signal);
		assertThat(kept.grant().claim().owner()).isEqualTo(waiter.owner());
		assertThat(kept.grant().storeToken()).isGreaterThan(holder.storeToken());
		assertThat(kept.after()).isPositive();
		assertThat(ask(this.other, claim(this.lock).withRemainingWait(Duration.ZERO)))
			.isInstanceOf(AcquireResult.Contended.class);
		assertThat(renewed(this.store, kept.grant()).isRenewed().toCompletableFuture()).isCompletedWithValue(true);
		assertThat(granted(this.store, waiter).storeToken()).isEqualTo(kept.grant().storeToken());
		released(this.store, kept.grant());
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	/** Its age is known only to the attempt before the wait. */
	@Test
	void laterAttemptOfAWaiterGetsASignalWithoutTheLock() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		soonRefused(this.store, waiter);
		CompletionStage<?> signal = soonRefused(this.store, waiter);
		released(this.other, holder);
		assertThat((Object) answer(signal)).isNull();
		released(this.store, granted(this.store, waiter));
	}

	@Slow
	@Test
	void lockThatAWaiterDoesNotTakeIsReleasedSoon() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		CompletionStage<?> signal = soonRefused(this.store, claim(this.lock));
		released(this.other, holder);
		awaitSignal(signal);
		released(this.other, soonGranted(this.other, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Test
	void waitersAreGrantedTheLockInTheOrderOfTheServersQueue() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		List<Claim> waiters = List.of(claim(this.lock), claim(this.lock), claim(this.lock));
		for (int i = 0; i < waiters.size(); i++) {
			soonRefused(this.store, waiters.get(i));
			postgres.awaitWaiters(i + 1);
		}
		released(this.other, holder);
		for (Claim waiter : waiters) {
			released(this.store, soonGranted(this.store, waiter));
		}
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Test
	void waitEndsWithTheTimeOfItsClaim() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		CompletionStage<?> signal = soonRefused(this.store, claim(this.lock).withRemainingWait(Duration.ofMillis(300)));
		assertThat((Object) answer(signal)).isNull();
		assertThat(this.store.sessions()).isZero();
		released(this.other, holder);
		postgres.awaitNothingLeft(this.store, this.pool);
		assertThat(this.pool.getHikariPoolMXBean().getTotalConnections()).as("connections kept").isOne();
	}

	/** The pause moves the withdrawal through the time around the grant. */
	@Slow
	@ParameterizedTest
	@ValueSource(longs = { -400, -100, 0, 100, 200, 400, 800, 2_000 })
	void withdrawalAtTheMomentOfTheGrantLeavesNothing(long micros) throws Exception {
		for (int i = 0; i < 15; i++) {
			Grant holder = granted(this.other, claim(this.lock));
			Claim waiter = claim(this.lock);
			soonRefused(this.store, waiter);
			CompletableFuture<?> withdrawn = CompletableFuture.runAsync(() -> {
				pause(micros);
				this.store.abandon(waiter);
			});
			pause(-micros);
			released(this.other, holder);
			withdrawn.get(BOUND.toSeconds(), TimeUnit.SECONDS);
			released(this.other, soonGranted(this.other, claim(this.lock)));
			assertThat(answer(this.store.find(this.lock)).holders()).isEmpty();
		}
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	private static void pause(long micros) {
		if (micros > 0) {
			LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(micros));
		}
	}

	@Test
	void withdrawalOfALongWaitLeavesNothing() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		soonRefused(this.store, waiter);
		postgres.awaitWaiters(1);
		answer(this.store.abandon(waiter));
		assertThat(this.store.sessions()).isZero();
		postgres.awaitWaiters(0);
		released(this.other, holder);
		postgres.awaitNothingLeft(this.store, this.pool);
		assertThat(this.pool.getHikariPoolMXBean().getTotalConnections()).as("connections kept").isOne();
	}

	/** A thread that is interrupted cannot await the cancellation. */
	@Test
	void withdrawalByAnInterruptedThreadLeavesNothing() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		soonRefused(this.store, waiter);
		postgres.awaitWaiters(1);
		Thread.currentThread().interrupt();
		this.store.abandon(waiter);
		assertThat(Thread.interrupted()).isTrue();
		released(this.other, holder);
		released(this.other, soonGranted(this.other, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	/** Neither the cancellation nor its effect passes the network. */
	@Slow
	@Test
	void withdrawalFromAnUnreachableServerIsBounded() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		soonRefused(this.store, waiter);
		postgres.awaitWaiters(1);
		this.wire.stall();
		long start = System.nanoTime();
		answer(this.store.abandon(waiter));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
		assertThat(this.store.sessions()).isZero();
		this.wire.flow();
		released(this.other, holder);
		released(this.other, soonGranted(this.other, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Test
	void waiterWhoseConnectionBreaksAsksAgain() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		Claim waiter = claim(this.lock);
		CompletionStage<?> signal = soonRefused(this.store, waiter);
		postgres.awaitWaiters(1);
		this.wire.cut();
		awaitSignal(signal);
		released(this.other, holder);
		released(this.store, soonGranted(this.store, waiter));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Slow
	@Test
	void engineHoldsTheLockThatTheServerHasGranted() throws Exception {
		try (LockEngine one = engine(this.store); LockEngine two = engine(this.other)) {
			LockRequest request = LockRequest.forLock(this.lock).waitTime(BOUND).build();
			for (int i = 0; i < 20; i++) {
				LockHandle held = one.acquire(request);
				CompletableFuture<Long> next = CompletableFuture.supplyAsync(() -> {
					try (LockHandle successor = two.acquire(request)) {
						successor.assertHeld();
						return successor.fencingToken().value();
					}
				});
				postgres.awaitWaiters(1);
				held.close();
				assertThat(next.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isGreaterThan(held.fencingToken().value());
			}
		}
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	private static LockEngine engine(AdvisoryLockBackend backend) {
		return new LockEngine(new LockBackends(List.of(backend), "jdbc"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of());
	}

}
