package io.holdfast.lock.engine;

import io.holdfast.lock.LockNotAcquiredException;

/**
 * The lock was not to be had, and the caller has said what to do then. Told apart by its
 * type from an interrupt, from the end of the application, and from a lock within the
 * body.
 */
final class LockSkippedException extends LockNotAcquiredException {

	LockSkippedException(String message) {
		super(message);
	}

}
