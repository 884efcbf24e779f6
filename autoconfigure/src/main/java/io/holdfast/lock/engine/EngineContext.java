package io.holdfast.lock.engine;

import java.util.concurrent.Executor;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * Collaborators that the acquisitions of one engine share with the leases that they
 * create.
 *
 * @param settings the settings of the engine
 * @param time the clock
 * @param ownerIds creates the owner ids of claims
 * @param queues the wait queues of local callers
 * @param releases the releases to which the store has not responded
 * @param watchdog renews leases and detects their expiry
 * @param retrier releases leases and withdraws claims at the store
 * @param registry the current holders and waiters
 * @param observer receives the events of locks
 * @param callbacks runs callers' code that must not run on a thread of a store
 */
record EngineContext(EngineSettings settings, SchedulingClock time, OwnerIds ownerIds, LocalWaitQueues queues,
		ReleasesInProgress releases, Watchdog watchdog, ReleaseRetrier retrier, HoldRegistry registry,
		LockObserver observer, Executor callbacks) {

	/**
	 * Returns what runs a listener that the present thread notifies. A listener may end
	 * the application, whose client then waits for its own threads. Or it may block, and
	 * other leases need this thread.
	 * @param backend the store of the lock
	 */
	Executor listenerThreads(LockBackend backend) {
		Thread present = Thread.currentThread();
		return (backend.answersOn(present) || Threads.isOwn(present)) ? this.callbacks : Runnable::run;
	}

}
