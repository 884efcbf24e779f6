/**
 * Deterministic simulation of several JVMs that share one store: the real engine, the
 * real backends where their client can be replaced, one virtual clock and one seed.
 *
 * <p>
 * Start with {@code Simulations}, which runs seeds and explains failures, and with
 * {@code SimulatedStore}, which a model of a store implements.
 */
@NullMarked
package io.holdfast.lock.test.simulation;

import org.jspecify.annotations.NullMarked;
