package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LocalLockBackendTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** Starts just below the overflow, because a monotonic clock may overflow. */
	private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - LEASE.toNanos() / 2);

	private final LocalLockBackend store = new LocalLockBackend(this.clock::get);

	@Test
	void leaseEndsExactlyWhenItsTimeHasPassed() {
		Grant grant = granted(claim(LOCK));
		pass(LEASE.minusNanos(1));
		assertThat(refused(claim(LOCK)).retryAfter()).isEqualTo(Duration.ofNanos(1));
		pass(Duration.ofNanos(1));
		assertThat(renew(grant)).isInstanceOf(RenewResult.Refused.class);
		granted(claim(LOCK));
	}

	@Test
	void leaseThatLeavesItsHolderNoTimeIsRefused() {
		LockRequest request = LockRequest.forLock(LOCK).leaseTime(Duration.ofMillis(2)).build();
		try (LockEngine engine = new LockEngine(new LockBackends(List.of(this.store), LocalLockBackend.NAME),
				settings().build(), TransactionBoundary.NONE, List.of())) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> engine.acquire(request))
				.withMessageContaining("keeps none shorter than 10ms");
		}
	}

	@Test
	void renewalRestartsTheLease() {
		Grant grant = granted(claim(LOCK));
		pass(LEASE.minusSeconds(1));
		assertThat(renew(grant)).isEqualTo(new RenewResult.Renewed(LEASE));
		pass(LEASE.minusSeconds(1));
		assertThat(refused(claim(LOCK)).retryAfter()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void renewalOfAnEarlierGrantOfTheSameOwnerIsRefused() {
		Claim claim = claim(LOCK);
		Grant earlier = granted(claim);
		pass(LEASE);
		Grant later = granted(claim);
		assertThat(later.storeToken()).isGreaterThan(earlier.storeToken());
		assertThat(renew(earlier)).isInstanceOf(RenewResult.Refused.class);
		assertThat(release(earlier)).isInstanceOf(ReleaseResult.NotHeld.class);
		assertThat(release(later)).isInstanceOf(ReleaseResult.Released.class);
	}

	@Test
	void tokensGrowFromOneStoreToTheNext() {
		long before = granted(claim(LOCK)).storeToken();
		long after = answer(new LocalLockBackend().tryAcquire(claim(LOCK)), Acquired.class).grant().storeToken();
		assertThat(after).isGreaterThan(before);
	}

	@Test
	void storesDoNotSeeEachOther() {
		granted(claim(LOCK));
		AcquireResult other = answer(new LocalLockBackend().tryAcquire(claim(LOCK)), AcquireResult.class);
		assertThat(other).isInstanceOf(Acquired.class);
	}

	@Test
	void aMillionKeysLeaveNothing() {
		for (int i = 0; i < 1_000_000; i++) {
			LockName lock = LockName.of("stock", Integer.toString(i));
			release(granted(claim(lock)));
		}
		assertThat(this.store.remembered()).isZero();
	}

	@Test
	void unreleasedLeasesAreRemovedOverTime() {
		for (int i = 0; i < 1000; i++) {
			granted(claim(LockName.of("stock", Integer.toString(i))));
		}
		pass(LEASE);
		Grant grant = granted(claim(LOCK));
		assertThat(this.store.remembered()).isEqualTo(1);
		release(grant);
		assertThat(this.store.remembered()).isZero();
	}

	@Test
	void waiterIsRemovedWhenItsWaitTimeEnds() {
		Grant holder = granted(claim(LOCK));
		refused(claim(LOCK).withRemainingWait(Duration.ofSeconds(1)));
		pass(Duration.ofSeconds(1));
		release(holder);
		assertThat(this.store.remembered()).isZero();
	}

	@Test
	void onlyTheFirstExclusiveWaiterIsNotified() {
		Grant holder = granted(claim(LOCK));
		List<String> notified = new ArrayList<>();
		Claim first = claim(LOCK).withRemainingWait(LEASE);
		refused(first).signal().thenRun(() -> notified.add("first"));
		refused(claim(LOCK).withRemainingWait(LEASE)).signal().thenRun(() -> notified.add("second"));
		release(holder);
		assertThat(notified).containsExactly("first");
		this.store.abandon(first);
		assertThat(notified).containsExactly("first", "second");
	}

	@Test
	void waiterMayUseTheStoreFromWithinItsSignal() {
		Grant holder = granted(claim(LOCK));
		Claim waiter = claim(LOCK).withRemainingWait(LEASE);
		List<AcquireResult> results = new ArrayList<>();
		refused(waiter).signal().thenRun(() -> results.add(answer(this.store.tryAcquire(waiter), Acquired.class)));
		release(holder);
		assertThat(results).hasSize(1);
	}

	@Test
	void everyReaderBeforeTheNextWriterIsNotified() {
		Grant holder = granted(claim(LOCK));
		List<String> notified = new ArrayList<>();
		refused(shared().withRemainingWait(LEASE)).signal().thenRun(() -> notified.add("reader 1"));
		refused(shared().withRemainingWait(LEASE)).signal().thenRun(() -> notified.add("reader 2"));
		refused(claim(LOCK).withRemainingWait(LEASE)).signal().thenRun(() -> notified.add("writer"));
		refused(shared().withRemainingWait(LEASE)).signal().thenRun(() -> notified.add("reader 3"));
		release(holder);
		assertThat(notified).containsExactly("reader 1", "reader 2", "writer");
	}

	@Test
	void unfairNewcomerMayOvertakeUnfairWaitersButNoFairOne() {
		Grant holder = granted(claim(LOCK));
		refused(claim(LOCK).withRemainingWait(LEASE));
		release(holder);
		Grant overtaking = granted(claim(LOCK));
		refused(fair(claim(LOCK)));
		release(overtaking);
		refused(claim(LOCK));
	}

	@Test
	void leasesAndWaitTimesBeyondAnyClockAreKept() {
		Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
		Claim claim = new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, forever, false, forever, false);
		granted(claim);
		pass(Duration.ofDays(365));
		assertThat(refused(claim(LOCK).withRemainingWait(forever)).retryAfter()).isPositive();
	}

	private void pass(Duration time) {
		this.clock.addAndGet(time.toNanos());
	}

	private Grant granted(Claim claim) {
		return answer(this.store.tryAcquire(claim), Acquired.class).grant();
	}

	private Contended refused(Claim claim) {
		return answer(this.store.tryAcquire(claim), Contended.class);
	}

	private RenewResult renew(Grant grant) {
		return this.store.renew(List.of(grant)).toCompletableFuture().join().get(0);
	}

	private ReleaseResult release(Grant grant) {
		return this.store.release(grant).toCompletableFuture().join();
	}

	private static <T> T answer(CompletionStage<?> stage, Class<T> type) {
		assertThat(stage).isCompletedWithValueMatching(type::isInstance, type.getSimpleName());
		return type.cast(stage.toCompletableFuture().join());
	}

	private static Claim claim(LockName lock) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, LEASE, true, Duration.ZERO, false);
	}

	private static Claim shared() {
		return new Claim(LOCK, OwnerId.random(), LockMode.SHARED, LEASE, true, Duration.ZERO, false);
	}

	private static Claim fair(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), LEASE, true, LEASE, true);
	}

}
