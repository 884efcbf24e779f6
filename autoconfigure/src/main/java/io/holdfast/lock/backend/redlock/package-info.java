/**
 * Backend for several independent Redis masters that decide by majority (Redlock).
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi},
 * {@code io.holdfast.lock.support} and {@code io.holdfast.lock.backend.redis}.
 *
 * <p>
 * Applications may use {@code RedlockLockBackend} and {@code RedlockLockOptions}.
 */
@NullMarked
package io.holdfast.lock.backend.redlock;

import org.jspecify.annotations.NullMarked;
