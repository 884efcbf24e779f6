/**
 * Tests that no update is lost, with several processes of the sample application, a real
 * database and a real lock store. Further runs prove that the tests would detect a loss.
 *
 * <p>
 * {@code ServerProcess} runs a server and can pause it, kill it and move its clock.
 * {@link io.holdfast.verification.SampleProcess} runs the application as such a server.
 *
 * <p>
 * For a run with faults, a {@link io.holdfast.verification.TestEnvironment} provides a
 * database, the servers of one {@link io.holdfast.verification.StoreKit store} and
 * processes of the sample application. {@link io.holdfast.verification.Buyers} place
 * orders while one {@link io.holdfast.verification.Fault} after another occurs.
 * {@link io.holdfast.verification.History} records the responses,
 * {@link io.holdfast.verification.TransactionRecorder} the holders of each lock, and
 * {@link io.holdfast.verification.StockRecords} the state of the database. The
 * {@link io.holdfast.verification.RunResult} compares them.
 *
 * <p>
 * To add a store, add it to {@link io.holdfast.verification.StoreKit}. To add a fault,
 * add it to the enumeration and to the stores to which it applies.
 */
@NullMarked
package io.holdfast.verification;

import org.jspecify.annotations.NullMarked;
