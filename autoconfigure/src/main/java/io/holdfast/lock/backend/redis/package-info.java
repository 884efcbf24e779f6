/**
 * Backend for Redis: standalone, behind Sentinel or on a Cluster. It uses Redisson as the
 * client and its own scripts.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and
 * {@code io.holdfast.lock.support}.
 *
 * <p>
 * Applications may use {@code RedisLockBackend} and {@code RedisLockOptions}. The other
 * types are internal: they are public for the package {@code redlock}, and may change in
 * any release.
 */
@NullMarked
package io.holdfast.lock.backend.redis;

import org.jspecify.annotations.NullMarked;
