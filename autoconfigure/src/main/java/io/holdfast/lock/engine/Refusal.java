package io.holdfast.lock.engine;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.spi.AcquireOutcome;

/**
 * How an acquisition says no: what a lock that is not to be had means to the caller, and
 * the words for every reason.
 */
enum Refusal {

	/** The caller is told by an exception. */
	THROWS(AcquireOutcome.TIMEOUT),

	/** The caller goes on without. */
	SKIPS(AcquireOutcome.SKIPPED),

	/** The caller does not wait now, but will come back; this is told to nobody. */
	TENTATIVE(AcquireOutcome.SKIPPED);

	private final AcquireOutcome outcome;

	Refusal(AcquireOutcome outcome) {
		this.outcome = outcome;
	}

	AcquireOutcome outcome() {
		return this.outcome;
	}

	LockException notAcquired(Terms terms, int attempts, long waitedNanos) {
		String message = "Lock '%s' not acquired: another holder kept it for %s (%s, %d attempts). Raise 'waitTime' or 'distributed-lock.wait-time', or shorten what its holder does."
			.formatted(terms.lock(), Durations.text(waitedNanos), terms, attempts);
		return (this == THROWS) ? new LockNotAcquiredException(message) : new LockSkippedException(message);
	}

	static LockException interrupted(Terms terms, int attempts, long waitedNanos) {
		return new LockNotAcquiredException(
				"Lock '%s' not acquired: the waiting caller was interrupted after %s (%s, %d attempts). Nothing is held; its claim is withdrawn."
					.formatted(terms.lock(), Durations.text(waitedNanos), terms, attempts));
	}

	static LockException stopping(Terms terms) {
		return new LockNotAcquiredException(
				"Lock '%s' not acquired: the application is stopping (%s). Repeat the call at another instance."
					.formatted(terms.lock(), terms));
	}

	static LockException unknown(Terms terms, int attempts, Throwable cause) {
		return new LockBackendException(
				"Lock '%s' not acquired: store %s did not say whether it was granted (%s, %d attempts; last: %s). The claim is withdrawn; check that the store is reachable and answers within 'distributed-lock.response-timeout'."
					.formatted(terms.lock(), terms.backend().name(), terms, attempts, cause.getMessage()),
				cause);
	}

	static LockException failed(Terms terms, Throwable cause) {
		if (cause instanceof LockException ours) {
			return ours;
		}
		return new LockBackendException("Lock '%s' not acquired: store %s failed (%s): %s. See the cause."
			.formatted(terms.lock(), terms.backend().name(), terms, cause), cause);
	}

}
