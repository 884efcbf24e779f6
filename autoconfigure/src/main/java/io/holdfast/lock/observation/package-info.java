/**
 * The meters of the locks: their names, their tags, and what is counted when.
 *
 * <p>
 * Imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and Micrometer, which is
 * optional. The engine does not know this room; it tells a
 * {@link io.holdfast.lock.spi.LockObserver}.
 */
@NullMarked
package io.holdfast.lock.observation;

import org.jspecify.annotations.NullMarked;
