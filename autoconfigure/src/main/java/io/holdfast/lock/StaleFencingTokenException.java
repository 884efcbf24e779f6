package io.holdfast.lock;

/**
 * Thrown when a resource has seen a greater fencing token than the holder's: another
 * holder was there meanwhile, and what this one would write is computed from old data. A
 * transaction that meets this rolls back.
 */
public class StaleFencingTokenException extends LockException {

	private final transient LockName lock;

	private final String backend;

	/**
	 * Creates an exception.
	 * @param lock the lock whose holder is stale
	 * @param backend the name of the backend that granted it
	 * @param message fact, state and remedy
	 */
	public StaleFencingTokenException(LockName lock, String backend, String message) {
		super(lock, backend, message, null);
		this.lock = lock;
		this.backend = backend;
	}

	@Override
	public LockName lock() {
		return this.lock;
	}

	@Override
	public String backend() {
		return this.backend;
	}

}
