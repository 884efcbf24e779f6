/**
 * The contracts around the engine: what a backend implements, and what relates holds to
 * transactions.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock}.
 */
@NullMarked
package io.holdfast.lock.spi;

import org.jspecify.annotations.NullMarked;
