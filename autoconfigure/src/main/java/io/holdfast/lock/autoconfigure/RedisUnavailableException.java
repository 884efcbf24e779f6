package io.holdfast.lock.autoconfigure;

import io.holdfast.lock.LockBackendException;

/**
 * Stops the start: the Redis that is to keep locks cannot be used.
 */
final class RedisUnavailableException extends LockBackendException {

	private final String source;

	RedisUnavailableException(RedisClient client, LockBackendException cause) {
		super(String.valueOf(cause.getMessage()), cause.getCause());
		this.source = client.source();
	}

	/**
	 * Where the address comes from, as the user knows it.
	 */
	String source() {
		return this.source;
	}

}
