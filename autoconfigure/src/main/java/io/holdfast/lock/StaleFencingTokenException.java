package io.holdfast.lock;

/**
 * Thrown when a resource has seen a greater fencing token than the holder's. Another
 * holder has had the lock in the meantime, so this holder's writes would be based on
 * stale data. The holder's transaction rolls back.
 */
public class StaleFencingTokenException extends LockException {

	/**
	 * Creates an exception.
	 * @param lock the lock whose holder is stale
	 * @param backend the name of the backend that granted it
	 * @param message fact, state and remedy
	 */
	public StaleFencingTokenException(LockName lock, String backend, String message) {
		super(lock, backend, message, null);
	}

	@Override
	@SuppressWarnings("NullAway") // the constructor requires it
	public LockName lock() {
		return super.lock();
	}

	@Override
	@SuppressWarnings("NullAway") // the constructor requires it
	public String backend() {
		return super.backend();
	}

}
