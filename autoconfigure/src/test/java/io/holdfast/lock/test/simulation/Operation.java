package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;

/**
 * A use of one or more locks, planned before the run.
 *
 * @param number the number that identifies the operation
 * @param process the number of the calling process
 * @param startAt the time of the call, relative to the start of the run
 * @param locks the locks
 * @param mode exclusive or shared
 * @param waitTime the longest wait
 * @param leaseTime the lease time
 * @param renew whether the lease is renewed
 * @param minHold the shortest time for which the lock stays closed
 * @param fair whether locks are granted in order of arrival
 * @param holdFor the duration of the hold
 * @param cancelAfter the time after which the caller cancels, or {@code null} if it does
 * not
 * @param style the method to call
 */
record Operation(int number, int process, Duration startAt, List<LockName> locks, LockMode mode, Duration waitTime,
		Duration leaseTime, boolean renew, Duration minHold, boolean fair, Duration holdFor,
		@Nullable Duration cancelAfter, Style style) {

	LockRequest request() {
		return LockRequest.forLocks(this.locks)
			.mode(this.mode)
			.waitTime(this.waitTime)
			.leaseTime(this.leaseTime)
			.renew(this.renew)
			.minHold(this.minHold)
			.fair(this.fair)
			.build();
	}

	String subject() {
		return (this.locks.size() == 1) ? this.locks.get(0).toString() : "";
	}

	@Override
	public String toString() {
		return "#%d %s%s wait=%s lease=%s%s%s%s hold=%s%s %s".formatted(this.number,
				(this.mode == LockMode.SHARED) ? "shared " : "", this.locks, text(this.waitTime), text(this.leaseTime),
				this.renew ? "" : " renew=false", this.fair ? " fair" : "",
				this.minHold.isZero() ? "" : " minHold=" + text(this.minHold), text(this.holdFor),
				(this.cancelAfter != null) ? " cancelAfter=" + text(this.cancelAfter) : "", this.style);
	}

	private static String text(Duration duration) {
		return duration.toMillis() + "ms";
	}

	/**
	 * The methods that an operation can call.
	 */
	enum Style {

		/** Calls {@code acquireAsync}. */
		ACQUIRE,

		/** Calls {@code tryAcquireAsync}. */
		TRY,

		/** Calls {@code executeAsync}. */
		EXECUTE

	}

}
