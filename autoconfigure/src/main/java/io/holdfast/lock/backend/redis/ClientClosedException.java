package io.holdfast.lock.backend.redis;

/**
 * Thrown for a request to a client that was closed before.
 */
final class ClientClosedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ClientClosedException() {
		super("The client is closed");
	}

}
