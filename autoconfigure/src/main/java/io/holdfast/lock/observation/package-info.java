/**
 * The meters for locks, the observations that become spans of a trace, and the lock in
 * the logging context (MDC).
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi.observation}
 * and Micrometer, which is optional. The engine does not depend on this package; it
 * notifies a {@link io.holdfast.lock.spi.observation.LockObserver}.
 *
 * <p>
 * Applications may use the names and tags in {@code LockMeterDocumentation} and
 * {@code LockObservationDocumentation}, for example to rename a meter with a
 * {@code MeterFilter}. They may also use {@code LockObservationContext} and implement
 * {@code LockObservationConvention} or extend its default. The three observers are
 * internal: they are public for the auto-configuration, and may change in any release.
 */
@NullMarked
package io.holdfast.lock.observation;

import org.jspecify.annotations.NullMarked;
