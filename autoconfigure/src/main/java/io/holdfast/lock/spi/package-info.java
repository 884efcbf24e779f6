/**
 * The contracts around the engine: what a backend implements, the transaction boundary,
 * and the observer of locks.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock}.
 */
@NullMarked
package io.holdfast.lock.spi;

import org.jspecify.annotations.NullMarked;
