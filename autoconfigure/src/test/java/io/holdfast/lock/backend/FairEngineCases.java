package io.holdfast.lock.backend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.backend.StickyInstance.LOCK;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases of fair callers in two instances of an application.
 */
public interface FairEngineCases {

	/**
	 * Returns one instance.
	 * @return the instance
	 */
	StickyInstance first();

	/**
	 * Returns another instance.
	 * @return the instance
	 */
	StickyInstance second();

	/** Otherwise, a busy instance would get no more turns than an idle one. */
	@Test
	default void fairCallersOfTwoInstancesComeInOrderOfArrival() {
		LockRequest fair = LockRequest.forLock(LOCK).fair(true).waitTime(Duration.ofMinutes(1)).build();
		List<StickyInstance> arrivals = List.of(first(), first(), second(), first(), second(), first());
		List<Integer> order = new CopyOnWriteArrayList<>();
		try (LockHandle held = first().engine().acquire(fair)) {
			for (int i = 0; i < arrivals.size(); i++) {
				int number = i;
				arrivals.get(i).engine().acquireAsync(fair).thenAccept((handle) -> {
					order.add(number);
					handle.close();
				});
				Awaitility.await().until(() -> Integer.valueOf(number + 1).equals(waiters()));
			}
			assertThat(held.isHeld()).isTrue();
		}
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> order.size() == arrivals.size());
		assertThat(order).isSorted();
	}

	private @Nullable Integer waiters() {
		return first().backend().find(LOCK).toCompletableFuture().join().waiters();
	}

}
