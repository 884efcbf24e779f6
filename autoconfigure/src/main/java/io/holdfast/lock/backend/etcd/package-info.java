/**
 * Lock backend for etcd, with a wait queue of keys for each lock, in the order of their
 * creation. The first key of a wait queue holds the lock.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi}, and
 * {@code io.holdfast.lock.support}. The client is jetcd's KV, Lease, and Watch. The
 * server's lock service is not used: that of etcd 3.4 grants locks to waiters whose lease
 * has ended.
 *
 * <p>
 * Applications may use {@code EtcdLockBackend} and {@code EtcdLockOptions}.
 */
@NullMarked
package io.holdfast.lock.backend.etcd;

import org.jspecify.annotations.NullMarked;
