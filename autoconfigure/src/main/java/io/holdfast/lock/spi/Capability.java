package io.holdfast.lock.spi;

/**
 * A capability that not every backend has.
 *
 * @see BackendCapabilities
 */
public enum Capability {

	/** Supports {@code LockMode.SHARED}. */
	SHARED,

	/** Can grant strictly in order of arrival. */
	FAIR,

	/**
	 * After a release, a waiter of any instance has precedence: the store notifies
	 * waiters in the order of a queue, or keeps the lock for the waiter that comes first
	 * until it retries. Only then may a lease pass from caller to caller within one
	 * instance: others would rarely find the lock free.
	 */
	WAIT_QUEUE,

	/**
	 * Requests for one lock reach the store in the order in which they are sent, as over
	 * one connection. The next caller of an instance then does not wait for the response
	 * to a release. If a connection breaks, the order may be lost, which only delays that
	 * caller.
	 */
	ORDERED,

	/**
	 * The methods block the calling thread until the store has answered, so they must not
	 * be called from an event loop.
	 */
	BLOCKING,

	/**
	 * The state in the store lives with a session of its client, as in ZooKeeper and
	 * etcd, and not with the lease of the lock. The remains of a claim or a grant can
	 * then outlive the lease, so the engine withdraws them until the store has confirmed
	 * that.
	 */
	SESSION_BOUND,

	/**
	 * A rejected claim reaches the instance that has the lease, so that it releases an
	 * idle one. Only then can leases be sticky.
	 */
	DEMAND

}
