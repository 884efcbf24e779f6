package io.holdfast.lock.autoconfigure;

import io.holdfast.lock.LockBackendException;

/**
 * Stops the start: too few of the Redis nodes that are to keep locks can be used.
 */
final class RedlockUnavailableException extends LockBackendException {

	RedlockUnavailableException(LockBackendException cause) {
		super(String.valueOf(cause.getMessage()), cause.getCause());
	}

}
