package io.holdfast.lock.test;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A clock that never advances, so that no timer runs.
 */
public final class StoppedClock implements SchedulingClock {

	@Override
	public long nanos() {
		return 0;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		return () -> {
		};
	}

}
