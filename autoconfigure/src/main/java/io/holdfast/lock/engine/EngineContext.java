package io.holdfast.lock.engine;

import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The parts that every acquisition and every lease of one engine works with.
 *
 * @param settings what holds for every lock
 * @param time the clock
 * @param queues the lines of local waiters
 * @param watchdog renews leases and notices their end
 * @param retrier ends leases and withdraws claims at the store
 * @param registry who holds and who waits
 * @param boundary where the caller's transaction meets a hold
 * @param observer who is told of what happens
 * @param workers the threads
 */
record EngineContext(EngineSettings settings, SchedulingClock time, LocalWaitQueues queues, Watchdog watchdog,
		ReleaseRetrier retrier, HoldRegistry registry, TransactionBoundary boundary, LockObserver observer, Workers workers) {

}
