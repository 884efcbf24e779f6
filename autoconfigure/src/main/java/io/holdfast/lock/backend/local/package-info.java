/**
 * Lock backend for this JVM. It needs no server and does not exclude other instances.
 *
 * <p>
 * It is the default when no other backend is configured, and a test double for every
 * other one. This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi}
 * and {@code io.holdfast.lock.support}.
 *
 * <p>
 * Applications may use {@code LocalLockBackend}, for example in their tests.
 */
@NullMarked
package io.holdfast.lock.backend.local;

import org.jspecify.annotations.NullMarked;
