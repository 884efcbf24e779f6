/**
 * Turns a request into a hold and keeps it one: acquisition and waiting, the local queue,
 * validity, renewal, re-entry, loss and shutdown.
 *
 * <p>
 * This room knows no store, no transaction and no annotation; it imports
 * {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}. Its public types are its
 * entry; the rest is nobody's business.
 */
@NullMarked
package io.holdfast.lock.engine;

import org.jspecify.annotations.NullMarked;
