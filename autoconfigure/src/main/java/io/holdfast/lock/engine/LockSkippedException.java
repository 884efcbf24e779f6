package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.LockNotAcquiredException;

/**
 * The lock was not available, and the caller asked to continue without it. Its type tells
 * it apart from an interrupt, from shutdown, and from the failure of a lock within the
 * body.
 */
final class LockSkippedException extends LockNotAcquiredException {

	LockSkippedException(ResolvedRequest terms, Duration waited, String message) {
		super(terms.lock(), terms.backend().name(), waited, Reason.HELD, message);
	}

}
