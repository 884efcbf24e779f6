package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;

/**
 * Adapter to one store that can grant, extend and end a lease on a lock, each in a single
 * attempt.
 *
 * <p>
 * A backend never waits for a lock and never repeats an attempt; the engine does. It may
 * repeat a request to restore its session. Expiry is judged by the store's clock, so a
 * wrong wall clock on this host cannot break exclusion. A long pause of this process
 * still can; the fencing token protects against that.
 *
 * <p>
 * Implementations are thread-safe. No method throws an exception. A permanent failure,
 * such as a rejected password, completes the stage with a
 * {@link io.holdfast.lock.LockBackendException}. Every unknown outcome is reported as
 * {@code Indeterminate}. The engine withdraws a claim whose attempt fails with an
 * unexpected error. An answer takes no longer than the client's own timeout; the engine
 * does not rely on that.
 *
 * <p>
 * Implementations must pass {@code LockBackendContract}.
 */
public interface LockBackend {

	/** The answer of a store that never doubts a valid lease. */
	CompletionStage<Boolean> CERTAIN = CompletableFuture.completedStage(true);

	/**
	 * Returns the name of this backend in properties, annotations and meters.
	 * @return the name, such as {@code redis}
	 */
	String name();

	/**
	 * Returns the capabilities of this backend.
	 * @return the capabilities; the same from the first response of the store on
	 */
	BackendCapabilities capabilities();

	/**
	 * Returns whether a thread delivers the answers of this store. Such a thread would
	 * block its own answer, so the engine does not let it wait for a lock.
	 * @param thread the thread
	 * @return whether it delivers answers; {@code false} if that is not known
	 */
	default boolean answersOn(Thread thread) {
		return false;
	}

	/**
	 * Returns whether the calling thread may send a release although this backend blocks.
	 * The engine asks a blocking backend on the thread that has closed a hold, right
	 * before the release. Another thread sends the release if the backend objects. It
	 * must do so if the release could wait for something that the calling thread has,
	 * such as the connection of a transaction.
	 * @return whether to send the release on the calling thread; {@code false} by default
	 */
	default boolean releasesOnCaller() {
		return false;
	}

	/**
	 * Returns whether the calling thread may {@link #find} a lock although this backend
	 * blocks. The engine asks a blocking backend on the thread that has closed a hold and
	 * passed its lease on. If the backend objects, it is not asked whether another claim
	 * waits, so the lease is released after its turn. It must object where it does for
	 * {@link #releasesOnCaller}, and should if it never knows that no claim waits.
	 * @return whether to ask on the calling thread; {@code false} by default
	 */
	default boolean findsOnCaller() {
		return false;
	}

	/**
	 * Attempts once to acquire a lock. The same owner may repeat the attempt and receives
	 * the same grant and token, or a greater token if servers that missed the attempt
	 * join the grant. A store with a wait queue keeps the owner's position between
	 * attempts.
	 * @param claim the claim
	 * @return the result
	 */
	CompletionStage<AcquireResult> tryAcquire(Claim claim);

	/**
	 * Restarts leases that still belong to their owners, in one request if the store can.
	 * @param grants the grants to extend, each by its claim's lease time
	 * @return one result for each grant, in the same order. A stage that fails means
	 * {@code Indeterminate} for all of them
	 */
	CompletionStage<List<RenewResult>> renew(List<Grant> grants);

	/**
	 * Confirms a lease whose holder is about to do irreversible work. Called only while
	 * the lease is valid, which most stores need not verify further. A backend that
	 * detects an interrupted connection may answer after it has asked the server again,
	 * or fail immediately.
	 * @param grant the grant whose lease is still valid
	 * @return whether the lease still belongs to this owner. A stage that fails means
	 * that the holder must not rely on the lease at this moment, although it is not known
	 * to be lost
	 */
	default CompletionStage<Boolean> confirm(Grant grant) {
		return CERTAIN;
	}

	/**
	 * Ends the lease if, and only if, it still belongs to this owner. Repeating the call
	 * has no effect.
	 * @param grant the grant to end
	 * @return the result
	 */
	CompletionStage<ReleaseResult> release(Grant grant);

	/**
	 * Keeps a lock for a fixed time after its holder has released it, without renewal.
	 * This shortens the lease or extends it once. The engine calls it when it closes
	 * before the {@code minHold} of a lock has elapsed. It sends nothing else for this
	 * grant, so the lock must outlive the client.
	 *
	 * <p>
	 * By default, a lease that the store itself keeps is renewed once, by the remaining
	 * time. A store whose leases live with a session of the client keeps nothing unless
	 * its backend overrides this method.
	 * @param grant the grant whose holder has released it
	 * @param remaining the time for which to keep the lock from now on, greater than zero
	 * @return whether the store keeps the lock for that time. {@code false} if the lease
	 * no longer belonged to this owner, or if the store cannot keep it beyond its client.
	 * A stage that fails means that the outcome is unknown
	 */
	default CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		if (capabilities().has(Capability.SESSION_BOUND)) {
			return CompletableFuture.completedStage(false);
		}
		return renew(List.of(grant.withLease(remaining))).thenCompose((results) -> results.get(0).isRenewed());
	}

	/**
	 * Reads the present state of a lock, for operators, and for an engine whose callers
	 * pass a lease on while no claim of another one waits. Changes nothing.
	 * @param lock the lock
	 * @return the holders in all instances, and the number of waiters, which must include
	 * every claim that waits, or must be {@code null}. A stage that fails means that they
	 * are unknown. By default, fails because the backend cannot look up locks
	 */
	default CompletionStage<LockState> find(LockName lock) {
		return CompletableFuture.failedStage(new LockConfigurationException(
				"The backend '%s' cannot look up locks. Implement LockBackend.find() in it.".formatted(name())));
	}

	/**
	 * Ends the lease of a holder of any instance, for an operator who releases a lock by
	 * force. Has no effect on another owner, which may have the lock by now. A store
	 * never forgets the token of the holder, so that the next token is greater.
	 *
	 * <p>
	 * By default, releases the lease of that owner, or withdraws its claim if leases live
	 * with a session. A backend that can do so only for its own client must override this
	 * method.
	 * @param lock the lock
	 * @param holder the holder, as {@link #find} has returned it
	 * @return whether this call has ended the lease, or {@code true} if the store cannot
	 * tell. {@code false} if the lease no longer belonged to this owner. A stage that
	 * fails means that the outcome is unknown
	 */
	default CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		Claim claim = Claim.heldBy(lock, holder, capabilities().shortestLease());
		if (capabilities().has(Capability.SESSION_BOUND)) {
			return abandon(claim).thenApply((done) -> true);
		}
		return release(Grant.heldBy(claim, holder.token())).thenCompose(ReleaseResult::isReleased);
	}

	/**
	 * Checks whether the store can grant locks now, for a health check. The check changes
	 * no lock. It should fail where an acquisition would, for example if the server
	 * rejects writes.
	 * @return the status. A stage that fails means that the store cannot grant locks. By
	 * default, the status is unknown
	 */
	default CompletionStage<StoreStatus> status() {
		return CompletableFuture.completedStage(StoreStatus.UNKNOWN);
	}

	/**
	 * Checks whether the store can grant locks now, as {@link #status()} does. A backend
	 * that asks several servers reports those that did not respond in time, instead of
	 * waiting for them.
	 * @param timeout the time until the status is needed
	 * @return the status
	 */
	default CompletionStage<StoreStatus> status(Duration timeout) {
		return status();
	}

	/**
	 * Withdraws a claim: its position in the wait queue, and the lease if it was granted
	 * meanwhile. Never releases the lock of another owner.
	 * @param claim the claim to withdraw
	 * @return completes when the store has processed the withdrawal, and fails if that is
	 * unknown
	 */
	CompletionStage<Void> abandon(Claim claim);

}
