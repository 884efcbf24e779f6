/**
 * Locks as lines of ephemeral nodes in ZooKeeper: the first of a line holds the lock.
 *
 * <p>
 * Imports {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}; Curator is the
 * client.
 */
@NullMarked
package io.holdfast.lock.backend.zookeeper;

import org.jspecify.annotations.NullMarked;
