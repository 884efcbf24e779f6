/**
 * The contracts around the engine: what a backend implements, and what relates holds to
 * transactions.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock}.
 *
 * <p>
 * Authors of backends use all types but {@code ManagedHold} and
 * {@code TransactionBoundary}. Those two are internal: they relate the engine to
 * transactions, and may change in any release.
 */
@NullMarked
package io.holdfast.lock.spi;

import org.jspecify.annotations.NullMarked;
