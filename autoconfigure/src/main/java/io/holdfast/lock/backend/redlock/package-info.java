/**
 * The store on several independent Redis masters, of which a majority decides (Redlock).
 *
 * <p>
 * This room imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and
 * {@code io.holdfast.lock.backend.redis}.
 */
@NullMarked
package io.holdfast.lock.backend.redlock;

import org.jspecify.annotations.NullMarked;
