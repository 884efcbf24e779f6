package io.holdfast.lock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.LockBackend;

/**
 * A request with nothing left open: every default filled in, the store found.
 *
 * @param lock the lock
 * @param backend the store
 * @param mode alone or shared
 * @param waitTime the longest wait
 * @param leaseTime the lease to ask for
 * @param renew whether it is renewed
 * @param maxHold when renewal stops, or {@code null} for never
 * @param minHold how long the lock stays closed at least
 * @param fair whether the order is strict
 * @param interruptOnLoss whether the acquiring thread is interrupted on loss
 */
record Terms(LockName lock, LockBackend backend, LockMode mode, Duration waitTime, Duration leaseTime, boolean renew,
		@Nullable Duration maxHold, Duration minHold, boolean fair, boolean interruptOnLoss) {

	static Terms of(LockRequest request, LockBackends backends, EngineSettings settings) {
		Duration leaseTime = orElse(request.leaseTime(), settings.leaseTime());
		backends.requireSupport(request.backend(), request.mode(), request.fair(), leaseTime,
				"The request for lock '" + request.lock() + "'");
		Boolean interrupt = request.interruptOnLoss();
		return new Terms(request.lock(), backends.get(request.backend()), request.mode(),
				orElse(request.waitTime(), settings.waitTime()), leaseTime, request.renew(), request.maxHold(),
				request.minHold(), request.fair(), (interrupt != null) ? interrupt : settings.interruptOnLoss());
	}

	private static Duration orElse(@Nullable Duration value, Duration otherwise) {
		return (value != null) ? value : otherwise;
	}

	boolean patient() {
		return !this.waitTime.isZero();
	}

	LocalQueues.Slot slot() {
		return new LocalQueues.Slot(this.backend.name(), this.lock, this.mode);
	}

	@Override
	public String toString() {
		return "store %s, wait %s, lease %s".formatted(this.backend.name(), Durations.text(this.waitTime),
				Durations.text(this.leaseTime));
	}

}
