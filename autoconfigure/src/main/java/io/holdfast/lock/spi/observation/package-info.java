/**
 * Observation of locks: the events of acquisitions, renewals and losses, and their
 * outcomes. Backends need none of it.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock}.
 *
 * <p>
 * Applications may declare a {@code LockObserver} as a bean.
 */
@NullMarked
package io.holdfast.lock.spi.observation;

import org.jspecify.annotations.NullMarked;
