package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.GuardedLog;

/**
 * Registry of the current holders and waiters of this JVM, which ends them at shutdown.
 * Thread-safe.
 */
final class HoldRegistry {

	/** Named after the public entry point, so that the level is easy to configure. */
	private static final GuardedLog logger = GuardedLog.of(LockEngine.class);

	private static final int MAX_LOGGED = 10;

	/** The callers, from their request until it fails or their lease ends. */
	private final Set<LocalWaitQueues.Ticket> callers = ConcurrentHashMap.newKeySet();

	/**
	 * The closing engine's own thread judges whether it waits on: a grant that was under
	 * way may still start a lease after another one has ended.
	 */
	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final AtomicBoolean closed = new AtomicBoolean();

	/** Requests to send when this JVM stops. */
	private final Set<Runnable> atShutdown = ConcurrentHashMap.newKeySet();

	/** Whether leases that start now are too late for the shutdown. */
	private volatile boolean ended;

	/**
	 * Registers an acquisition, unless this JVM has stopped acquiring.
	 * @return whether the acquisition may proceed
	 */
	boolean add(Acquisition acquisition) {
		this.callers.add(acquisition);
		if (this.closed.get()) {
			this.callers.remove(acquisition);
			return false;
		}
		return true;
	}

	void remove(Acquisition acquisition) {
		this.callers.remove(acquisition);
		changed();
	}

	/**
	 * Registers the lease of a registered caller, or ends it if the others were ended at
	 * shutdown before.
	 */
	void add(Lease lease) {
		lease.ticket.lease = lease;
		if (this.ended) {
			lease.endAtShutdown(lease.listenerThreads());
		}
	}

	void remove(Lease lease) {
		this.callers.remove(lease.ticket);
		changed();
	}

	/** Signals that an acquisition has ended, or that a lease is no longer in use. */
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

	/** Sends a request when the leases of this JVM have ended, unless it is cancelled. */
	void runAtShutdown(Runnable request) {
		this.atShutdown.add(request);
		if (this.ended) {
			runAtShutdown();
		}
	}

	private void runAtShutdown() {
		this.atShutdown.stream().filter(this::cancelAtShutdown).forEach(Runnable::run);
	}

	/** Cancels a request; returns {@code false} if it was sent. */
	boolean cancelAtShutdown(Runnable request) {
		return this.atShutdown.remove(request);
	}

	boolean isClosed() {
		return this.closed.get();
	}

	/**
	 * Rejects further acquisitions, stops those that wait, and waits for running bodies.
	 * Leases that are still held after that end as the application's shutdown requires.
	 * @param timeout how long to wait for running bodies
	 * @return whether this call shut the registry down
	 */
	boolean shutDown(Duration timeout) {
		if (!this.closed.compareAndSet(false, true)) {
			return false;
		}
		waiting().forEach(Acquisition::stop);
		held().forEach((lease) -> lease.store.endIfIdle());
		Set<Lease> own = ThreadHolds.leasesOfRunningBodies();
		announceWait(timeout, own);
		awaitNoneInUse(timeout.toNanos(), own);
		this.ended = true;
		List<Runnable> listeners = new ArrayList<>();
		held().forEach(
				(lease) -> lease.endAtShutdown((task) -> listeners.add(() -> lease.listenerThreads().execute(task))));
		runAtShutdown();
		// a listener may block, and no other lock must wait for it
		listeners.forEach(Runnable::run);
		return true;
	}

	private void announceWait(Duration timeout, Set<Lease> own) {
		List<String> inUse = held().stream()
			.filter((lease) -> lease.inUse() && !own.contains(lease))
			.map((lease) -> lease.request().lock().toString())
			.sorted()
			.toList();
		if (!inUse.isEmpty()) {
			logger.info("Closing waits up to %s for locks that are in use (%s): %s".formatted(DurationText.of(timeout),
					inUse.size(), String.join(", ", inUse.subList(0, Math.min(inUse.size(), MAX_LOGGED)))));
		}
	}

	List<Acquisition> waiting() {
		return this.callers.stream().filter((caller) -> caller.lease == null).map(Acquisition.class::cast).toList();
	}

	List<Lease> held() {
		return this.callers.stream().map((caller) -> caller.lease).filter(Objects::nonNull).toList();
	}

	/**
	 * Whether a closing engine waits for a caller. One whose own thread closes the engine
	 * cannot end meanwhile.
	 * @param own the leases under which the closing thread runs
	 */
	private static boolean delaysClosing(LocalWaitQueues.Ticket caller, Set<Lease> own) {
		Lease lease = caller.lease;
		return (lease != null) ? lease.delaysClosing() && !own.contains(lease)
				: ((Acquisition) caller).caller() != Thread.currentThread();
	}

	/**
	 * Waits until every acquisition that was stopped has sent its withdrawal, no body
	 * runs under a lock and the release of every ended hold is sent, until the time is
	 * over, or until the thread is interrupted.
	 */
	private void awaitNoneInUse(long nanos, Set<Lease> own) {
		long left = nanos;
		this.lock.lock();
		try {
			while (left > 0 && this.callers.stream().anyMatch((caller) -> delaysClosing(caller, own))) {
				left = this.changed.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.lock.unlock();
		}
	}

}
