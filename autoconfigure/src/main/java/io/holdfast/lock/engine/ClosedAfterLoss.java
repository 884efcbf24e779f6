package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Keeps the lock of a lost lease closed for a time, and releases it then. If the engine
 * closes before, a store that frees locks with the session of this JVM has to retain it.
 * In other stores, it ends with its lease.
 */
final class ClosedAfterLoss {

	private final HoldRegistry registry;

	private final Runnable release;

	/** Present if the store has to retain the lock at shutdown. */
	private final @Nullable Runnable retention;

	private final Runnable cancel;

	/**
	 * Starts the time.
	 * @param nanos the time in nanoseconds
	 * @param release releases the lease
	 * @param retain asks the store to retain the lock for the rest of the time at
	 * shutdown, or {@code null} if it need not
	 */
	ClosedAfterLoss(HoldRegistry registry, SchedulingClock time, long nanos, Runnable release,
			@Nullable Consumer<Duration> retain) {
		this.registry = registry;
		this.release = release;
		long until = time.nanos() + nanos;
		this.retention = (retain != null) ? () -> retain.accept(Duration.ofNanos(until - time.nanos())) : null;
		if (this.retention != null) {
			registry.runAtShutdown(this.retention);
		}
		this.cancel = time.after(nanos, this::release);
	}

	/** Ends the time now. Harmless if repeated. */
	void end() {
		this.cancel.run();
		release();
	}

	private void release() {
		if (this.retention == null || this.registry.cancelAtShutdown(this.retention)) {
			this.release.run();
		}
	}

}
