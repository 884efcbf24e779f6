/**
 * Backend for Redis: standalone, behind Sentinel or on a Cluster. It uses Redisson as the
 * client and its own scripts.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and
 * {@code io.holdfast.lock.support}.
 */
@NullMarked
package io.holdfast.lock.backend.redis;

import org.jspecify.annotations.NullMarked;
