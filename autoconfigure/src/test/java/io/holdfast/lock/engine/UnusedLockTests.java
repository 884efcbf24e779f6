package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a lock that was granted, but that no code has used, is released at once.
 */
class UnusedLockTests {

	private static final Duration MIN_HOLD = Duration.ofSeconds(20);

	private static final LockName FIRST = LockName.of("stock", "a");

	private static final LockName SECOND = LockName.of("stock", "b");

	private final Queue<Runnable> tasks = new ArrayDeque<>();

	private final List<Runnable> deferred = new ArrayList<>();

	private final AtomicInteger runs = new AtomicInteger();

	/** Defers each release until the transaction ends. */
	private final TransactionBoundary transaction = new TransactionBoundary() {

		@Override
		public boolean defersReleases() {
			return true;
		}

		@Override
		public void deferRelease(DeferrableHold hold) {
			UnusedLockTests.this.deferred.add(hold.deferRelease());
		}

	};

	private EngineFixture fixture(TransactionBoundary boundary) {
		return new EngineFixture(settings().build(), boundary, this.tasks::add);
	}

	@Test
	void minHoldDoesNotKeepALockThatIsNotDelivered() {
		EngineFixture fixture = fixture(TransactionBoundary.NONE);
		CompletableFuture<LockHandle> acquired = fixture.acquire(request().minHold(MIN_HOLD));
		assertReleasedAfterCancelling(acquired, fixture);
		assertThat(acquired).isCancelled();
	}

	@Test
	void minHoldDoesNotKeepALockWhoseActionDoesNotStart() {
		EngineFixture fixture = fixture(TransactionBoundary.NONE);
		CompletableFuture<Integer> result = fixture.engine
			.executeAsync(request().minHold(MIN_HOLD).build(),
					(handle) -> CompletableFuture.completedFuture(this.runs.incrementAndGet()))
			.toCompletableFuture();
		assertReleasedAfterCancelling(result, fixture);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void transactionDoesNotKeepALockThatIsNotDelivered() {
		EngineFixture fixture = fixture(this.transaction);
		assertReleasedAfterCancelling(fixture.acquire(request()), fixture);
	}

	/** The lock is granted, but the caller's future is not complete yet. */
	private void assertReleasedAfterCancelling(CompletableFuture<?> future, EngineFixture fixture) {
		this.tasks.remove().run();
		assertThat(fixture.backend.holds(LOCK)).isTrue();
		assertThat(future.cancel(false)).isTrue();
		for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
			task.run();
		}
		fixture.assertNothingLeft();
	}

	@Test
	void transactionDoesNotKeepLocksOfAFailedRequest() {
		EngineFixture fixture = fixture(this.transaction);
		fixture.backend.heldByAnother(SECOND);
		LockRequest both = LockRequest.forLocks(List.of(FIRST, SECOND)).waitTime(Duration.ZERO).build();
		assertThat(fixture.engine.tryAcquire(both)).isEmpty();
		assertThat(fixture.backend.owners).containsOnlyKeys(SECOND);
		assertThat(LockContext.handles()).isEmpty();
		this.deferred.forEach(Runnable::run);
		assertThat(fixture.backend.calls).containsOnlyOnce("release stock:a");
	}

	@Test
	void failedRequestKeepsTheLockThatItHasReentered() {
		EngineFixture fixture = fixture(this.transaction);
		fixture.backend.heldByAnother(SECOND);
		LockHandle outer = fixture.engine.acquire(LockRequest.forLock(FIRST).build());
		LockRequest both = LockRequest.forLocks(List.of(FIRST, SECOND)).waitTime(Duration.ZERO).build();
		assertThat(fixture.engine.tryAcquire(both)).isEmpty();
		outer.close();
		assertThat(outer.isHeld()).isTrue();
		this.deferred.forEach(Runnable::run);
		assertThat(outer.isHeld()).isFalse();
		assertThat(fixture.backend.owners).containsOnlyKeys(SECOND);
	}

	/** A session-bound store may keep the lock although its validity has expired. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void minHoldDoesNotKeepALockThatExpiredDuringTheWaitForOthers(boolean granted) {
		EngineFixture fixture = new EngineFixture();
		fixture.backend.heldByAnother(SECOND);
		CompletableFuture<LockHandle> both = fixture.acquire(LockRequest.forLocks(List.of(FIRST, SECOND))
			.minHold(Duration.ofHours(1))
			.waitTime(Duration.ofMinutes(1)));
		fixture.time.pause(Duration.ofSeconds(31));
		fixture.time.advance(Duration.ofSeconds(1));
		assertThat(both).isNotDone();
		if (granted) {
			fixture.backend.freedByAnother(SECOND);
		}
		fixture.time.advance(Duration.ofMinutes(1));
		assertThat(both).isCompletedExceptionally();
		assertThat(fixture.backend.owners).doesNotContainKey(FIRST);
	}

}
