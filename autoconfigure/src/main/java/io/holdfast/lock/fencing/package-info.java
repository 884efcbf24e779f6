/**
 * Fences: what a resource remembers of the greatest token it has seen, so that a holder
 * that was overtaken is refused. In the transaction of a database by themselves, and by
 * {@code FencingGuard} wherever else something is written.
 *
 * <p>
 * Imports {@code io.holdfast.lock}; Spring's JDBC and transactions, and for one guard
 * Redisson, are optional.
 */
@NullMarked
package io.holdfast.lock.fencing;

import org.jspecify.annotations.NullMarked;
