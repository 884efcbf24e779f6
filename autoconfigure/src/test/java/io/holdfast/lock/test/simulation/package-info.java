/**
 * Deterministic simulation of several JVMs that share one store, with the real engine,
 * one virtual clock, and one seed. Backends are real if their client can be replaced.
 *
 * <p>
 * The entry points are {@code Simulations}, which runs seeds and explains failures, and
 * {@code SimulatedStore}, which models of stores implement.
 */
@NullMarked
package io.holdfast.lock.test.simulation;

import org.jspecify.annotations.NullMarked;
