package io.holdfast.lock.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Registry of the current holders and waiters of this JVM. Thread-safe.
 */
final class HoldRegistry {

	private final Set<Acquisition> waiting = ConcurrentHashMap.newKeySet();

	private final Set<Lease> held = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Whether a closing engine waits for the leases, after it has stopped all waiters.
	 */
	private volatile boolean awaited;

	/** Opens when no lease delays closing any longer. */
	private final CountDownLatch idle = new CountDownLatch(1);

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
		if (this.awaited && this.held.stream().noneMatch(Lease::delaysClosing)) {
			this.idle.countDown();
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
		this.awaited = true;
		changed();
		try {
			return this.idle.await(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
