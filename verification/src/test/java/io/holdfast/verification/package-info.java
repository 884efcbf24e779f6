/**
 * Proves, with several processes of the real sample application, a real database and a
 * real lock store, that no update is lost; and that it could see a loss if there were
 * one.
 *
 * <p>
 * {@code ServerProcess} runs a server and can pause it, kill it and move its clock;
 * {@link io.holdfast.verification.SampleProcess} is the application as such a server.
 *
 * <p>
 * For a run with faults a {@link io.holdfast.verification.Stage} has a database, the
 * servers of one {@link io.holdfast.verification.StoreKit store} and processes of the
 * sample; {@link io.holdfast.verification.Buyers} order, a
 * {@link io.holdfast.verification.Fault} after another happens,
 * {@link io.holdfast.verification.History} keeps what was answered,
 * {@link io.holdfast.verification.Witness} who held which lock, and
 * {@link io.holdfast.verification.Books} what the database knows. The
 * {@link io.holdfast.verification.Verdict} compares them. To add a store, add it to the
 * kit; to add a fault, add one to the enumeration and to the stores that can have it.
 */
@NullMarked
package io.holdfast.verification;

import org.jspecify.annotations.NullMarked;
