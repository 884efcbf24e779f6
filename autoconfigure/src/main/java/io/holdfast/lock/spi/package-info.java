/**
 * What a store implements, and what it answers with.
 *
 * <p>
 * The engine and the stores meet here; this room imports only {@code io.holdfast.lock}.
 */
@NullMarked
package io.holdfast.lock.spi;

import org.jspecify.annotations.NullMarked;
