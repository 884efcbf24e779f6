package io.holdfast.lock.spi;

import java.time.Duration;

/**
 * What a store can do. What is asked of it and not listed here stops the application's
 * start.
 *
 * @param shared whether it knows {@code LockMode.SHARED}
 * @param fair whether it can grant strictly in the order of arrival
 * @param blocking whether its methods block the calling thread until the store has
 * answered, so that they must not be called from an event loop
 * @param sessionBound whether what it keeps lives with a session of its client, as in
 * ZooKeeper and etcd, and not with the lease of the lock. Whatever remains there of a
 * claim or a grant can outlive its lease, so the engine withdraws it until the store has
 * confirmed that
 * @param shortestLease the shortest lease that it keeps faithfully
 */
public record BackendCapabilities(boolean shared, boolean fair, boolean blocking, boolean sessionBound,
		Duration shortestLease) {

}
