package io.holdfast.lock.spi;

import java.time.Duration;

/**
 * The capabilities of a backend. An annotation that requires a missing capability
 * prevents application startup. A request in code that requires one is rejected when it
 * is made.
 *
 * @param shared whether it supports {@code LockMode.SHARED}
 * @param fair whether it can grant strictly in order of arrival
 * @param waitQueue whether a waiter of any instance has precedence after a release: the
 * store notifies waiters in the order of a queue, or keeps the lock for the waiter that
 * comes first until it retries. Only then may a lease pass from caller to caller within
 * one instance: others would rarely find the lock free
 * @param blocking whether its methods block the calling thread until the store has
 * answered, so that they must not be called from an event loop
 * @param sessionBound whether the state in the store lives with a session of its client,
 * as in ZooKeeper and etcd, and not with the lease of the lock. The remains of a claim or
 * a grant can then outlive the lease, so the engine withdraws them until the store has
 * confirmed that
 * @param shortestLease the shortest lease that the store keeps reliably
 * @param demand whether a rejected claim reaches the instance that has the lease, so that
 * it releases an idle one. Only then can leases be sticky
 */
public record BackendCapabilities(boolean shared, boolean fair, boolean waitQueue, boolean blocking,
		boolean sessionBound, Duration shortestLease, boolean demand) {

	/**
	 * Creates the capabilities of a backend whose leases end with their last hold.
	 * @param shared whether it supports {@code LockMode.SHARED}
	 * @param fair whether it can grant strictly in order of arrival
	 * @param waitQueue whether waiters of all instances form a queue
	 * @param blocking whether its methods block the calling thread
	 * @param sessionBound whether the state in the store lives with a session
	 * @param shortestLease the shortest lease that the store keeps reliably
	 */
	public BackendCapabilities(boolean shared, boolean fair, boolean waitQueue, boolean blocking, boolean sessionBound,
			Duration shortestLease) {
		this(shared, fair, waitQueue, blocking, sessionBound, shortestLease, false);
	}

}
