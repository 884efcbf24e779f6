package io.holdfast.lock.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Registry of the current holders and waiters of this JVM. Thread-safe.
 */
final class HoldRegistry {

	private final Set<Acquisition> waiting = ConcurrentHashMap.newKeySet();

	private final Set<Lease> held = ConcurrentHashMap.newKeySet();

	/**
	 * The closing engine's own thread judges whether it waits on: a grant that was under
	 * way may still begin a lease after another one has ended.
	 */
	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Registers an acquisition, unless this JVM has stopped acquiring.
	 * @return whether the acquisition may proceed
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

	/** Signals that a lease is no longer in use or has ended. */
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
	 * Rejects further acquisitions.
	 * @return whether this call closed the registry
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
	 * Waits until no body runs under a lock and the release of every ended hold is sent.
	 * @return whether this happened in time; {@code false} also after an interrupt
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
