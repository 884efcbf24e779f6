package io.holdfast.lock.support;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SystemSchedulingClock}.
 */
class SystemSchedulingClockTests {

	private static final Duration BOUND = Duration.ofSeconds(20);

	private final AtomicBoolean ran = new AtomicBoolean();

	@Test
	void ticksOnlyWhileItIsUsed() {
		try (SystemSchedulingClock clock = new SystemSchedulingClock("timer")) {
			assertThat(clock.isTicking()).isFalse();
			Runnable cancel = clock.after(TimeUnit.HOURS.toNanos(1), () -> this.ran.set(true));
			assertThat(clock.isTicking()).isTrue();
			Awaitility.await().atMost(BOUND).until(() -> !clock.isTicking());
			clock.after(TimeUnit.HOURS.toNanos(1), () -> this.ran.set(true));
			assertThat(clock.isTicking()).isTrue();
			cancel.run();
		}
		assertThat(this.ran).isFalse();
	}

	@Test
	void taskRunsAfterItsDelayAndNotAfterCancellation() throws InterruptedException {
		try (SystemSchedulingClock clock = new SystemSchedulingClock("timer")) {
			long delay = SystemSchedulingClock.TICK_NANOS / 2;
			long start = clock.nanos();
			CountDownLatch later = new CountDownLatch(1);
			clock.after(delay / 2, () -> this.ran.set(true)).run();
			clock.after(delay, later::countDown);
			assertThat(later.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
			assertThat(clock.nanos() - start).isGreaterThanOrEqualTo(delay);
		}
		assertThat(this.ran).isFalse();
	}

}
