/**
 * Backend for Redis: standalone, behind Sentinel or on a Cluster. It uses its own
 * scripts, and a {@code ScriptClient} for the client library.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and
 * {@code io.holdfast.lock.support}.
 *
 * <p>
 * Applications may use {@code RedisLockBackend} and {@code RedisLockOptions}. The other
 * types are internal: they are public for the packages {@code redlock} and
 * {@code autoconfigure}, and may change in any release.
 */
@NullMarked
package io.holdfast.lock.backend.redis;

import org.jspecify.annotations.NullMarked;
