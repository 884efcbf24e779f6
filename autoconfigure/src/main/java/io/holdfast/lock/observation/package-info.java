/**
 * The meters for locks: their names, their tags, and the events that they count.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi.observation}
 * and Micrometer, which is optional. The engine does not depend on this package; it
 * notifies a {@link io.holdfast.lock.spi.observation.LockObserver}.
 *
 * <p>
 * Applications may use both public types, for example to rename a meter with a
 * {@code MeterFilter}.
 */
@NullMarked
package io.holdfast.lock.observation;

import org.jspecify.annotations.NullMarked;
