/**
 * Lock backend for ZooKeeper, with a wait queue of ephemeral nodes for each lock. The
 * first node of a wait queue holds the lock.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi}, and
 * {@code io.holdfast.lock.support}. Curator is the client.
 *
 * <p>
 * Applications may use {@code ZooKeeperLockBackend}, {@code ZooKeeperLockOptions} and
 * {@code WhenSuspended}.
 */
@NullMarked
package io.holdfast.lock.backend.zookeeper;

import org.jspecify.annotations.NullMarked;
