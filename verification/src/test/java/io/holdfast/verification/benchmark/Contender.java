package io.holdfast.verification.benchmark;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * The locks of one library on one store, used as its documentation suggests. They last as
 * long as the process.
 */
@FunctionalInterface
public interface Contender {

	/** The longest wait for a lock, in seconds. */
	int WAIT_SECONDS = 20;

	/**
	 * Runs a section under a lock.
	 * @param key the key of the lock
	 * @param section the section
	 * @throws Exception if the lock was not acquired
	 */
	void locked(String key, Runnable section) throws Exception;

	/** Runs a section under a lock of the JDK's interface. */
	static void locked(Lock lock, Runnable section) throws InterruptedException {
		if (!lock.tryLock(WAIT_SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException("The lock was not acquired in " + WAIT_SECONDS + " s");
		}
		try {
			section.run();
		}
		finally {
			lock.unlock();
		}
	}

}
