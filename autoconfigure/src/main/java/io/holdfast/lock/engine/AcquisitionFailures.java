package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;

/**
 * Exceptions for acquisitions that do not get their lock.
 */
final class AcquisitionFailures {

	private static final String CHECK_STORE = "Check that the store is reachable and responds within 'distributed-lock.response-timeout'.";

	private AcquisitionFailures() {
	}

	/** Returns a refusal whose exception is created only if a caller wants one. */
	static Outcome<Lease> refusal(ResolvedRequest request, boolean leaving, int attempts, long waitedNanos) {
		return new Outcome.Refused<>(() -> refused(request, leaving, attempts, waitedNanos));
	}

	/**
	 * Creates the exception for a wait that has timed out, on the thread of the caller.
	 * @param holderLeaving whether a caller in this JVM only awaited its release
	 */
	static LockNotAcquiredException refused(ResolvedRequest request, boolean holderLeaving, int attempts,
			long waitedNanos) {
		Duration waited = request.waited(waitedNanos);
		return new LockNotAcquiredException(request.lock(), request.backend().name(), waited,
				LockNotAcquiredException.Reason.HELD,
				"Lock '%s' was not acquired within %s: %s (%s%s). Increase 'waitTime' or 'distributed-lock.wait-time', or %s.%s"
					.formatted(request.lock(), DurationText.of(waited), obstacle(holderLeaving, attempts), request,
							attempts(attempts), (holderLeaving && attempts == 0) ? "check that the store is reachable"
									: "shorten the holder's work",
							hintAtDeadlock()));
	}

	/** Two callers that each hold what the other waits for fail like any others. */
	private static String hintAtDeadlock() {
		List<LockHandle> held = LockContext.handles();
		return held.isEmpty() ? ""
				: " This thread holds '%s'. If the other holder waits for that lock, request both in the same order everywhere, or with one call."
					.formatted(held.get(0).lock());
	}

	/**
	 * Creates the exception for a caller behind another one whose request the store has
	 * not answered in time, or could not decide.
	 * @param cause why the outcome of the other caller is unknown
	 */
	static LockException unknownBefore(ResolvedRequest request, long waitedNanos, Throwable cause) {
		boolean silent = cause instanceof TimeoutException;
		return new LockBackendException(request.lock(), request.backend().name(),
				"Lock '%s' was not acquired within %s: backend %s has not %s the request of another caller in this JVM (%s). Nothing was requested for this call. %s"
					.formatted(request.lock(), DurationText.of(request.waited(waitedNanos)), request.backend().name(),
							silent ? "answered" : "confirmed", request,
							silent ? CHECK_STORE : "The last attempt of that caller failed: " + reason(request, cause)),
				silent ? null : cause);
	}

	private static String obstacle(boolean holderLeaving, int attempts) {
		if (attempts > 0) {
			return "another holder kept it";
		}
		return holderLeaving ? "the store has not confirmed its release by this JVM"
				: "another caller in this JVM kept it";
	}

	static LockException interrupted(ResolvedRequest request, int attempts, long waitedNanos) {
		Duration waited = request.waited(waitedNanos);
		return new LockNotAcquiredException(request.lock(), request.backend().name(), waited,
				LockNotAcquiredException.Reason.INTERRUPTED,
				"Lock '%s' was not acquired: the caller was interrupted or cancelled after %s (%s%s). Nothing is held; the claim is withdrawn."
					.formatted(request.lock(), DurationText.of(waited), request, attempts(attempts)));
	}

	static LockException stopping(ResolvedRequest request, long waitedNanos) {
		return new LockNotAcquiredException(request.lock(), request.backend().name(), request.waited(waitedNanos),
				LockNotAcquiredException.Reason.STOPPING,
				"Lock '%s' was not acquired: the application is stopping (%s). Repeat the call on another instance. Work that belongs to the shutdown can lock in a listener for ContextClosedEvent."
					.formatted(request.lock(), request));
	}

	/** Creates the exception for a grant that was revoked before it was known here. */
	static LockException forcedOut(ResolvedRequest request) {
		return new LockLostException(request.lock(), request.backend().name(),
				"Lock '%s' was released by force when backend %s granted it (%s). The call did not start. Repeat it."
					.formatted(request.lock(), request.backend().name(), request));
	}

	/**
	 * Returns a new lease, or fails and ends it if it was lost before its body started.
	 */
	static Outcome<Lease> unlessLost(Lease lease) {
		if (!lease.lost()) {
			return new Outcome.Granted<>(lease);
		}
		lease.endHold();
		ResolvedRequest request = lease.request();
		return new Outcome.Failed<>(() -> new LockLostException(request.lock(), request.backend().name(),
				lease.lossMessage() + " The call did not start. Repeat it."));
	}

	static LockException tooMany(ResolvedRequest request, int most) {
		return new LockBackendException(request.lock(), request.backend().name(),
				"Lock '%s' was not acquired: %s asynchronous acquisitions already wait for backend %s, the maximum. Acquire fewer at a time, or check why the store responds slowly."
					.formatted(request.lock(), most, request.backend().name()),
				null);
	}

	/**
	 * Creates the exception for a backend that has not confirmed too many requests. More
	 * of them would fill the memory.
	 */
	static LockException unconfirmed(ResolvedRequest request, int most) {
		return new LockBackendException(request.lock(), request.backend().name(),
				"Lock '%s' was not requested: backend %s has not confirmed %s earlier releases and withdrawals, the maximum (%s). %s"
					.formatted(request.lock(), request.backend().name(), most, request, CHECK_STORE),
				null);
	}

	/** Creates the exception for an unknown outcome. */
	static LockException unknown(ResolvedRequest request, int attempts, Throwable cause) {
		return new LockBackendException(request.lock(), request.backend().name(),
				"Lock '%s' was not acquired: backend %s did not confirm whether it granted the lock (%s%s). The claim is withdrawn. The last attempt failed: %s"
					.formatted(request.lock(), request.backend().name(), request, attempts(attempts),
							reason(request, cause)),
				cause);
	}

	/**
	 * Returns why an attempt failed, and the remedy. The message of a
	 * {@link LockException} already names the root cause, further details and the remedy.
	 */
	private static String reason(ResolvedRequest request, Throwable cause) {
		return (cause instanceof LockException) ? message(request, cause)
				: Failures.rootMessage(cause) + ". " + CHECK_STORE;
	}

	/** Returns the message of a failure, which perhaps names the lock again. */
	private static String message(ResolvedRequest request, Throwable cause) {
		return String.valueOf(cause.getMessage()).replace("Lock '%s' ".formatted(request.lock()), "the lock ");
	}

	static LockException failed(ResolvedRequest request, Throwable cause) {
		if (cause instanceof LockBackendException ours && ours.lock() == null) {
			return new LockBackendException(request.lock(), request.backend().name(), String.valueOf(ours.getMessage()),
					(ours.getCause() != null) ? ours.getCause() : ours);
		}
		if (cause instanceof LockException ours) {
			return ours;
		}
		return new LockBackendException(request.lock(), request.backend().name(),
				"Lock '%s' was not acquired: backend %s failed (%s): %s. See the cause.".formatted(request.lock(),
						request.backend().name(), request, Failures.rootMessage(cause)),
				cause);
	}

	private static String attempts(int attempts) {
		return switch (attempts) {
			case 0 -> "";
			case 1 -> ", 1 attempt";
			default -> ", " + attempts + " attempts";
		};
	}

}
