package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.DurationText;

/**
 * Request for one lock, with every default applied and the backend resolved.
 *
 * @param lock the lock
 * @param backend the backend
 * @param mode exclusive or shared
 * @param requestedWait the maximum wait that was requested
 * @param waitTime the part of it that is left for this lock
 * @param leaseTime the lease to request
 * @param renew whether the lease is renewed
 * @param maxHold the time after which renewal stops, or {@code null} for never
 * @param minHold the minimum time for which the lock stays closed
 * @param fair whether the order is strict
 * @param interruptOnLoss whether the acquiring thread is interrupted on loss
 */
record ResolvedRequest(LockName lock, LockBackend backend, LockMode mode, Duration requestedWait, Duration waitTime,
		Duration leaseTime, boolean renew, @Nullable Duration maxHold, Duration minHold, boolean fair,
		boolean interruptOnLoss) {

	/**
	 * Resolves a request into one request for each lock, in the global order.
	 */
	static List<ResolvedRequest> of(LockRequest request, LockBackends backends, EngineSettings settings) {
		LockBackend backend = backends.get(request.backend());
		Duration leaseTime = orElse(request.leaseTime(), settings.leaseTime());
		Duration waitTime = orElse(request.waitTime(), settings.waitTime());
		Boolean interrupt = request.interruptOnLoss();
		boolean interruptOnLoss = (interrupt != null) ? interrupt : settings.interruptOnLoss();
		List<ResolvedRequest> terms = new ArrayList<>(request.locks().size());
		request.locks().forEach((lock, mode) -> {
			backends.requireSupport(request.backend(), mode, request.fair(), leaseTime,
					() -> "The request for lock '" + lock + "'");
			terms.add(new ResolvedRequest(lock, backend, mode, waitTime, waitTime, leaseTime, request.renew(),
					request.maxHold(), request.minHold(), request.fair(), interruptOnLoss));
		});
		return terms;
	}

	/** Returns a copy with the remaining wait time; a negative value counts as zero. */
	ResolvedRequest withWaitTime(long nanos) {
		return new ResolvedRequest(this.lock, this.backend, this.mode, this.requestedWait,
				Duration.ofNanos(Math.max(0, nanos)), this.leaseTime, this.renew, this.maxHold, this.minHold, this.fair,
				this.interruptOnLoss);
	}

	private static Duration orElse(@Nullable Duration value, Duration otherwise) {
		return (value != null) ? value : otherwise;
	}

	/**
	 * Returns how long the call has waited in total, including the locks before this one.
	 */
	Duration waited(long nanosForThisLock) {
		return this.requestedWait.minus(this.waitTime).plusNanos(nanosForThisLock);
	}

	boolean waits() {
		return !this.waitTime.isZero();
	}

	LocalWaitQueues.QueueKey queueKey() {
		return new LocalWaitQueues.QueueKey(this.backend.name(), this.lock, this.mode);
	}

	@Override
	public String toString() {
		return "backend %s, wait %s, lease %s".formatted(this.backend.name(), DurationText.of(this.requestedWait),
				DurationText.of(this.leaseTime));
	}

}
