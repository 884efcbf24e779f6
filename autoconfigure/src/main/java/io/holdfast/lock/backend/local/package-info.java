/**
 * The store that needs nothing: locks of this JVM, and of nobody else.
 *
 * <p>
 * It is the default when no other store is configured, and the test double of every other
 * one. This room imports {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}.
 */
@NullMarked
package io.holdfast.lock.backend.local;

import org.jspecify.annotations.NullMarked;
