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
 * One lock of a request, with nothing left open: every default filled in, the store
 * found.
 *
 * @param lock the lock
 * @param backend the store
 * @param mode alone or shared
 * @param requestedWait the longest wait that was asked for
 * @param waitTime what is left of it for this lock
 * @param leaseTime the lease to ask for
 * @param renew whether it is renewed
 * @param maxHold when renewal stops, or {@code null} for never
 * @param minHold how long the lock stays closed at least
 * @param fair whether the order is strict
 * @param interruptOnLoss whether the acquiring thread is interrupted on loss
 */
record ResolvedRequest(LockName lock, LockBackend backend, LockMode mode, Duration requestedWait, Duration waitTime,
		Duration leaseTime, boolean renew, @Nullable Duration maxHold, Duration minHold, boolean fair,
		boolean interruptOnLoss) {

	/**
	 * The terms of each lock of a request, in the global order.
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
			terms.add(new ResolvedRequest(lock, backend, mode, waitTime, waitTime, leaseTime, request.renew(), request.maxHold(),
					request.minHold(), request.fair(), interruptOnLoss));
		});
		return terms;
	}

	/** The same terms, with what is left of a wait that began before. */
	ResolvedRequest withWaitTime(long nanos) {
		return new ResolvedRequest(this.lock, this.backend, this.mode, this.requestedWait, Duration.ofNanos(Math.max(0, nanos)),
				this.leaseTime, this.renew, this.maxHold, this.minHold, this.fair, this.interruptOnLoss);
	}

	private static Duration orElse(@Nullable Duration value, Duration otherwise) {
		return (value != null) ? value : otherwise;
	}

	/**
	 * How long the call has waited since it was made, with other locks before this one.
	 */
	Duration waited(long nanosForThisLock) {
		return this.requestedWait.minus(this.waitTime).plusNanos(nanosForThisLock);
	}

	boolean patient() {
		return !this.waitTime.isZero();
	}

	LocalWaitQueues.QueueKey queueKey() {
		return new LocalWaitQueues.QueueKey(this.backend.name(), this.lock, this.mode);
	}

	@Override
	public String toString() {
		return "store %s, wait %s, lease %s".formatted(this.backend.name(), DurationText.of(this.requestedWait),
				DurationText.of(this.leaseTime));
	}

}
