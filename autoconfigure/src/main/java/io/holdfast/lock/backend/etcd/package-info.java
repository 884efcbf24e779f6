/**
 * Locks as lines of keys in etcd, in the order in which they were created: the first of a
 * line holds the lock.
 *
 * <p>
 * Imports {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}; jetcd's KV, Lease
 * and Watch are the client. The lock service of the server is not used: that of etcd 3.4
 * hands locks to waiters whose lease has ended.
 */
@NullMarked
package io.holdfast.lock.backend.etcd;

import org.jspecify.annotations.NullMarked;
