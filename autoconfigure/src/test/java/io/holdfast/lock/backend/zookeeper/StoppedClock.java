package io.holdfast.lock.backend.zookeeper;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A clock that never advances.
 */
final class StoppedClock implements SchedulingClock {

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
