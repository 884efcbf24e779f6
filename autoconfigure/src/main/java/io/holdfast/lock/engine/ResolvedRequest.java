package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.DurationText;

/**
 * Request for one lock: the caller's request, with the backend resolved and the
 * application's defaults applied.
 *
 * @param original the request of the caller, for the settings without a default of the
 * application
 * @param lock the lock
 * @param mode exclusive or shared
 * @param backend the backend
 * @param leaseTime the lease to request
 * @param requestedWait the maximum wait that was requested
 * @param waitTime the part of it that is left for this lock
 */
record ResolvedRequest(LockRequest original, LockName lock, LockMode mode, LockBackend backend, Duration leaseTime,
		Duration requestedWait, Duration waitTime) {

	/**
	 * Resolves a request into one request for each lock, in the global order.
	 */
	static List<ResolvedRequest> of(@Nullable LockRequest caller, LockBackends backends, EngineSettings settings) {
		LockRequest request = required(caller);
		LockBackend backend = backends.get(request.backend());
		Duration leaseTime = orElse(request.leaseTime(), settings.leaseTime());
		EngineSettings.requireLease(request, leaseTime, () -> "The request for lock '" + request.lock() + "'");
		Duration waitTime = orElse(request.waitTime(), settings.waitTime());
		List<ResolvedRequest> resolved = each(request,
				(lock, mode) -> new ResolvedRequest(request, lock, mode, backend, leaseTime, waitTime, waitTime));
		for (ResolvedRequest one : resolved) {
			backends.requireSupport(request.backend(), one.mode, request.fair(), leaseTime,
					() -> "The request for lock '" + one.lock + "'");
		}
		return resolved;
	}

	/**
	 * Most requests name one lock, which needs neither an iteration nor a growing list.
	 */
	private static List<ResolvedRequest> each(LockRequest request,
			BiFunction<LockName, LockMode, ResolvedRequest> resolve) {
		LockName first = request.lock();
		LockMode mode = request.locks().get(first);
		if (request.locks().size() == 1 && mode != null) {
			return List.of(resolve.apply(first, mode));
		}
		List<ResolvedRequest> resolved = new ArrayList<>(request.locks().size());
		request.locks().forEach((lock, other) -> resolved.add(resolve.apply(lock, other)));
		return resolved;
	}

	static List<LockName> locks(List<ResolvedRequest> all) {
		return (all.size() == 1) ? List.of(all.get(0).lock) : all.stream().map(ResolvedRequest::lock).toList();
	}

	/** Sets the wait time of a request to zero unless the request specifies one. */
	static LockRequest withoutDefaultWait(@Nullable LockRequest caller) {
		LockRequest request = required(caller);
		return (request.waitTime() != null) ? request : request.toBuilder().waitTime(Duration.ZERO).build();
	}

	private static LockRequest required(@Nullable LockRequest request) {
		if (request == null) {
			throw new LockConfigurationException(
					"The lock request is null. Pass a LockRequest, such as LockRequest.of(\"stock\", 42).");
		}
		return request;
	}

	/** Returns a copy with the remaining wait time; a negative value counts as zero. */
	ResolvedRequest withWaitTime(long nanos) {
		return new ResolvedRequest(this.original, this.lock, this.mode, this.backend, this.leaseTime,
				this.requestedWait, Duration.ofNanos(Math.max(0, nanos)));
	}

	private static <T> T orElse(@Nullable T value, T otherwise) {
		return (value != null) ? value : otherwise;
	}

	/**
	 * Returns how long the call has waited in total, including the locks before this one.
	 */
	Duration waited(long nanosForThisLock) {
		return this.requestedWait.minus(this.waitTime).plusNanos(nanosForThisLock);
	}

	/** Whether the acquiring thread is interrupted when the lock is lost. */
	boolean interruptsOnLoss(EngineSettings settings) {
		return orElse(this.original.interruptOnLoss(), settings.interruptOnLoss());
	}

	boolean renew() {
		return this.original.renew();
	}

	@Nullable Duration maxHold() {
		return this.original.maxHold();
	}

	Duration minHold() {
		return this.original.minHold();
	}

	boolean fair() {
		return this.original.fair();
	}

	/** Whether the caller asks the store whatever other callers of this JVM do. */
	boolean asksAtOnce() {
		return fair() || (this.mode == LockMode.SHARED && !waits());
	}

	/**
	 * Whether the lease may serve other holders, too: each renews it, and a strict order
	 * of arrival, which also counts for callers in other JVMs, is not broken.
	 */
	boolean mayShareLease() {
		return renew() && !fair() && this.mode == LockMode.EXCLUSIVE;
	}

	/** Whether the next caller may take the lease over. */
	boolean mayPassLeaseOn() {
		return mayShareLease() && this.backend.capabilities().has(Capability.WAIT_QUEUE);
	}

	boolean waits() {
		return !this.waitTime.isZero();
	}

	@Override
	public String toString() {
		return "backend %s, wait %s, lease %s".formatted(this.backend.name(), DurationText.of(this.requestedWait),
				DurationText.of(this.leaseTime));
	}

}
