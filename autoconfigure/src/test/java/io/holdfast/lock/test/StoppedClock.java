package io.holdfast.lock.test;

import java.time.Duration;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A clock that only the test advances. No timer runs.
 */
public final class StoppedClock implements SchedulingClock {

	private volatile long now;

	/**
	 * Advances the clock.
	 * @param time by how much
	 */
	public void advance(Duration time) {
		this.now += time.toNanos();
	}

	@Override
	public long nanos() {
		return this.now;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		return () -> {
		};
	}

}
