package io.holdfast.verification.benchmark;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The limit that a store sets: its own two requests for each lock, both awaited, and a
 * local queue before them. It does not renew leases and knows no order.
 */
final class RawLimit implements Contender {

	private static final long PAUSE_NANOS = 50_000;

	private final ConcurrentHashMap<String, ReentrantLock> local = new ConcurrentHashMap<>();

	private final Store store;

	RawLimit(Store store) {
		this.store = store;
	}

	@Override
	public void locked(String key, Runnable section) throws Exception {
		ReentrantLock queue = this.local.computeIfAbsent(key, (added) -> new ReentrantLock());
		queue.lock();
		try {
			while (!this.store.create(key)) {
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			try {
				section.run();
			}
			finally {
				this.store.delete(key);
			}
		}
		finally {
			queue.unlock();
		}
	}

	/** The two requests. */
	interface Store {

		/** Creates the key; returns {@code false} if it exists. */
		boolean create(String key) throws Exception;

		/** Deletes the key if this client has created it. */
		void delete(String key) throws Exception;

	}

}
