package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.LockNotAcquiredException;

/**
 * Thrown when the lock is not available and the caller asked to continue without it. The
 * type distinguishes this case from an interrupt, from shutdown, and from a lock failure
 * within the body.
 */
final class LockSkippedException extends LockNotAcquiredException {

	LockSkippedException(ResolvedRequest terms, Duration waited, String message) {
		super(terms.lock(), terms.backend().name(), waited, Reason.HELD, message);
	}

}
