package io.holdfast.lock.backend;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;

import static io.holdfast.lock.backend.StickyInstance.LOCK;
import static io.holdfast.lock.backend.StickyInstance.request;
import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases of two engines at one store, of which only the first has sticky leases. They are
 * so long that a lock changes its engine only on demand.
 */
public interface StickyEngineCases {

	/**
	 * Returns the instance with sticky leases.
	 * @return the instance
	 */
	StickyInstance first();

	/**
	 * Returns the instance whose leases end with their holds.
	 * @return the instance
	 */
	StickyInstance second();

	/**
	 * Returns what the claims of all instances have left in the store.
	 * @return what is left
	 * @throws Exception if the store does not respond
	 */
	Collection<?> left() throws Exception;

	/** Waits until all releases have been carried out. */
	default void awaitNoLock() {
		Awaitility.await().atMost(BOUND).until(() -> left().isEmpty());
	}

	@Test
	default void callerThatDoesNotWaitGetsAnIdleLease() {
		first().token();
		Awaitility.await().atMost(BOUND).until(() -> {
			Optional<LockHandle> handle = second().engine().tryAcquire(request(Duration.ZERO));
			handle.ifPresent(LockHandle::close);
			return handle.isPresent();
		});
	}

	@Test
	default void demandDuringAHoldEndsTheLeaseWithThatHold() {
		try (LockHandle held = first().engine().acquire(request(Duration.ZERO))) {
			assertThat(second().engine().tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		awaitNoLock();
	}

	@Test
	@DisplayName("An idle lease is not taken over after a forced release through another instance")
	default void idleLeaseIsNotTakenOverAfterAForcedRelease() {
		FencingToken before = first().token();
		forceReleaseThroughSecond();
		try (LockHandle next = second().engine().acquire(request(BOUND))) {
			assertThat(next.fencingToken()).isGreaterThan(before);
			Awaitility.await().atMost(BOUND).until(() -> first().inspector().held().isEmpty());
			assertThat(first().engine().tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(next.isHeld()).isTrue();
		}
	}

	@Test
	@DisplayName("A hold that has taken the lease over notices a forced release through another instance")
	default void holdThatHasTakenTheLeaseOverNoticesAForcedRelease() {
		first().token();
		try (LockHandle held = first().engine().acquire(request(Duration.ZERO))) {
			forceReleaseThroughSecond();
			Awaitility.await().atMost(BOUND).until(() -> !held.isHeld());
		}
	}

	/**
	 * The outcome is unknown if a node notifies the first instance before others have
	 * answered, and it then releases its lease on those itself.
	 */
	private void forceReleaseThroughSecond() {
		Awaitility.await().atMost(BOUND).ignoreExceptionsInstanceOf(LockBackendException.class).untilAsserted(() -> {
			second().inspector().forceRelease(LOCK);
			assertThat(second().inspector().find(LOCK).holders()).isEmpty();
		});
	}

	@Test
	default void closedEngineLeavesNoIdleLease() throws Exception {
		first().token();
		first().engine().close();
		assertThat(left()).isEmpty();
	}

}
