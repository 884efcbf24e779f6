package io.holdfast.lock.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who holds and who waits in this JVM right now. Thread-safe.
 */
final class HoldRegistry {

	private final Set<Acquisition> waiting = ConcurrentHashMap.newKeySet();

	private final Set<Lease> held = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Count in an acquisition, unless this JVM stops acquiring.
	 * @return whether it may go on
	 */
	boolean begin(Acquisition acquisition) {
		this.waiting.add(acquisition);
		if (this.closed.get()) {
			this.waiting.remove(acquisition);
			return false;
		}
		return true;
	}

	void end(Acquisition acquisition) {
		this.waiting.remove(acquisition);
	}

	void begin(Lease lease) {
		this.held.add(lease);
	}

	void end(Lease lease) {
		this.held.remove(lease);
		changed();
	}

	/** A lease is no longer in use, or gone. */
	void changed() {
		if (this.closed.get()) {
			this.lock.lock();
			try {
				this.changed.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/**
	 * Let nobody begin any more.
	 * @return whether this was not so before
	 */
	boolean close() {
		return this.closed.compareAndSet(false, true);
	}

	List<Acquisition> waiting() {
		return List.copyOf(this.waiting);
	}

	List<Lease> held() {
		return List.copyOf(this.held);
	}

	/**
	 * Wait until no body runs under a lock any more and what has ended is being released.
	 * @return whether that came to be in time
	 */
	boolean awaitNoneInUse(long nanos) {
		long left = nanos;
		this.lock.lock();
		try {
			while (this.held.stream().anyMatch(Lease::delaysClosing)) {
				if (left <= 0) {
					return false;
				}
				left = this.changed.awaitNanos(left);
			}
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

}
