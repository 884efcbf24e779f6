/**
 * Fences: a resource records the greatest token that it has seen and rejects stale
 * holders. Database transactions pass their fence automatically; a {@code FencingGuard}
 * protects other resources.
 *
 * <p>
 * This package imports {@code io.holdfast.lock} and its packages {@code spi} and
 * {@code support}. Spring's JDBC and transactions are optional, and so is Redisson, which
 * one guard requires.
 */
@NullMarked
package io.holdfast.lock.fencing;

import org.jspecify.annotations.NullMarked;
