package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One store that can grant, extend and end a lease on a lock, each in a single attempt.
 *
 * <p>
 * A backend never waits for a lock, repeats a request or schedules one: the engine does.
 * Expiry is judged on the store's clock, so a wrong wall clock on this host cannot break
 * exclusion. A long pause of this process still can: that is what the fencing token is
 * for.
 *
 * <p>
 * Thread-safe. No method throws; what is known to have failed for good, such as a refused
 * password, completes its stage with a {@link io.holdfast.lock.LockBackendException}, and
 * everything of unknown outcome is answered as {@code Indeterminate}. An answer takes no
 * longer than the client's own time-out; the engine does not rely on it.
 *
 * <p>
 * Implementations must pass {@code LockBackendContract}.
 */
public interface LockBackend {

	/** The answer of a store that has no doubt about a valid lease. */
	CompletionStage<Boolean> CERTAIN = CompletableFuture.completedStage(true);

	/**
	 * The store's name in properties, annotations and meters.
	 * @return the name, such as {@code redis}
	 */
	String name();

	/**
	 * What this store can do.
	 * @return the capabilities; always the same
	 */
	BackendCapabilities capabilities();

	/**
	 * Whether a thread delivers this store's answers. One that waited for an answer would
	 * wait for itself, so the engine does not let it wait for a lock.
	 * @param thread the thread
	 * @return whether it does; {@code false} if that is not known
	 */
	default boolean answersOn(Thread thread) {
		return false;
	}

	/**
	 * Try once to get the lock. The same owner may ask again and gets the same grant and
	 * token; a store that keeps a line keeps the owner's place in it between attempts.
	 * @param claim who wants which lock, and how
	 * @return the answer
	 */
	CompletionStage<AcquireResult> tryAcquire(Claim claim);

	/**
	 * Start leases anew that are still their owners', in one request where the store can.
	 * @param grants the grants to extend, each by its claim's lease time
	 * @return one answer for each, in the same order. A stage that fails says
	 * {@code Indeterminate} for all
	 */
	CompletionStage<List<RenewResult>> renew(List<Grant> grants);

	/**
	 * Make sure of a lease whose holder is about to do what cannot be undone. Asked only
	 * while the lease is valid, and for most stores that is all there is to know. One
	 * that sees its connection break may answer when it has asked the server again, or
	 * fail at once.
	 * @param grant the grant whose lease is still valid
	 * @return whether the lease is still this owner's. A stage that fails says that the
	 * holder must not rely on it at this moment, although nothing is known to be lost
	 */
	default CompletionStage<Boolean> confirm(Grant grant) {
		return CERTAIN;
	}

	/**
	 * End the lease if, and only if, it is still this owner's. Repeating it does nothing.
	 * @param grant the grant to end
	 * @return the answer
	 */
	CompletionStage<ReleaseResult> release(Grant grant);

	/**
	 * Keep a lock for a fixed time after its holder has ended, without renewal: that
	 * shortens the lease or extends it once. The engine asks for it when it closes before
	 * the {@code minHold} of a lock is over, and sends nothing else for this grant, so
	 * the lock must outlive the client.
	 *
	 * <p>
	 * By default a lease that is the store's own is renewed once, by the remaining time.
	 * A store whose leases live with a session of the client keeps nothing unless it
	 * overrides this.
	 * @param grant the grant whose holder has ended
	 * @param remaining how long to keep the lock from now on, greater than zero
	 * @return whether the store keeps the lock for that time. {@code false} if the lease
	 * was not this owner's any more, or if the store cannot keep it beyond its client. A
	 * stage that fails says that the outcome is unknown
	 */
	default CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		if (capabilities().sessionBound()) {
			return CompletableFuture.completedStage(false);
		}
		return renew(List.of(grant.withLease(remaining))).thenCompose((results) -> results.get(0).isRenewed());
	}

	/**
	 * Withdraw a claim: its place in line, and the lease if it was granted meanwhile.
	 * Never frees another owner.
	 * @param claim the claim to withdraw
	 * @return completes when the store knows of it, and fails if that is not known
	 */
	CompletionStage<Void> abandon(Claim claim);

}
