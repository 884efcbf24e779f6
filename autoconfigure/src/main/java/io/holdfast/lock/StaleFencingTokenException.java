package io.holdfast.lock;

/**
 * Thrown when a resource has seen a greater fencing token than the holder's: another
 * holder was there meanwhile, and what this one would write is computed from old data. A
 * transaction that meets this rolls back.
 */
public class StaleFencingTokenException extends LockException {

	private final LockName lock;

	private final String backend;

	/**
	 * Create one.
	 * @param lock the lock whose holder was overtaken
	 * @param backend the store that granted it
	 * @param message fact, state and remedy
	 */
	public StaleFencingTokenException(LockName lock, String backend, String message) {
		super(message, null);
		this.lock = lock;
		this.backend = backend;
	}

	/**
	 * The lock whose holder was overtaken.
	 * @return the lock
	 */
	public LockName lock() {
		return this.lock;
	}

	/**
	 * The store that granted it.
	 * @return its name
	 */
	public String backend() {
		return this.backend;
	}

}
