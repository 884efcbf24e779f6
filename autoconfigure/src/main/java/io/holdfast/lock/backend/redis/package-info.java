/**
 * The store on Redis: standalone, behind Sentinel or on a Cluster, with Redisson as the
 * client and scripts of our own.
 *
 * <p>
 * This room imports {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}.
 */
@NullMarked
package io.holdfast.lock.backend.redis;

import org.jspecify.annotations.NullMarked;
