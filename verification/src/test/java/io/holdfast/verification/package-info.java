/**
 * Proves, with several processes of the real sample application, a real database and a
 * real lock store, that no update is lost; and that it could see a loss if there were
 * one.
 *
 * <p>
 * A proof is put together from four parts, so that the next store or fault is one more of
 * a kind and not one more harness: {@code ServerProcess} runs a server and can pause and
 * kill it, {@link io.holdfast.verification.SampleProcess} is the application as such a
 * server, {@link io.holdfast.verification.Load} drives it, and
 * {@link io.holdfast.verification.Books} says afterwards what the database knows. To add
 * a store, start its server and give the processes its profile; to add a fault, call
 * {@code pause()}, {@code kill()} or {@code restart()} on a process while the load runs.
 */
@NullMarked
package io.holdfast.verification;

import org.jspecify.annotations.NullMarked;
