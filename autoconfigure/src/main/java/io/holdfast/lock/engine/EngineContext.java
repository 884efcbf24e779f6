package io.holdfast.lock.engine;

import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Components that all acquisitions and leases of one engine share.
 *
 * @param settings the settings of the engine
 * @param time the clock
 * @param queues the wait queues of local callers
 * @param watchdog renews leases and detects their expiry
 * @param retrier releases leases and withdraws claims at the store
 * @param registry the current holders and waiters
 * @param boundary relates holds to the caller's transactions
 * @param observer is notified of lock events
 * @param workers the threads
 */
record EngineContext(EngineSettings settings, SchedulingClock time, LocalWaitQueues queues, Watchdog watchdog,
		ReleaseRetrier retrier, HoldRegistry registry, TransactionBoundary boundary, LockObserver observer,
		Workers workers) {

}
