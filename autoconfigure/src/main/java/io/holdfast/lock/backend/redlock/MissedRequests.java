package io.holdfast.lock.backend.redlock;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * What a node that does not respond has missed: claims that it never received, which it
 * need not release, attempts that it has not answered, and releases that it has not
 * confirmed.
 *
 * <p>
 * A node that was frozen may process an attempt after its release has failed, or, on
 * another connection, after a release that found nothing. It would then reject all other
 * claims until the lease expires. As soon as it names such a claim as the one that blocks
 * another, the claim is released again. Keeps the latest claims of each kind.
 * Thread-safe.
 */
final class MissedRequests {

	private static final int MOST = 1_000;

	/** What a node answers if shared leases block a claim. */
	private static final String READERS = "readers";

	/** Stands for all attempts of a claim that has ended. */
	static final long EVERY_ATTEMPT = -1;

	private final Map<OwnerId, Claim> neverSent = latest();

	/**
	 * How many attempts of a claim the node may have granted, if it has not answered each
	 * of them.
	 */
	private final Map<OwnerId, Integer> unanswered = latest();

	private final Map<OwnerId, Ended> unconfirmed = latest();

	/** Whether there is none of any kind, which is the rule. Read without a lock. */
	private volatile boolean empty = true;

	private static <T> Map<OwnerId, T> latest() {
		return new LinkedHashMap<>() {

			@Override
			protected boolean removeEldestEntry(Map.Entry<OwnerId, T> eldest) {
				return size() > MOST;
			}

		};
	}

	/** Notes that no attempt of a claim was sent. */
	synchronized void neverSent(Claim claim) {
		this.neverSent.put(claim.owner(), claim);
		this.empty = false;
	}

	/** Notes that the node did not respond to an attempt of a claim. */
	synchronized void unanswered(Claim claim) {
		this.unanswered.merge(claim.owner(), 1, Integer::sum);
		this.empty = false;
	}

	/**
	 * Notes that the node has granted an attempt of a claim. Its release may end this one
	 * before the node processes an earlier one.
	 */
	void granted(Claim claim) {
		if (!this.empty) {
			addGranted(claim);
		}
	}

	private synchronized void addGranted(Claim claim) {
		this.unanswered.computeIfPresent(claim.owner(), (owner, count) -> count + 1);
	}

	/**
	 * Notes that the node did not respond to an attempt of a claim, but to a later one.
	 * @param attempt the number of the attempt that it did not respond to
	 * @param granted whether the node has granted the later one
	 * @param ended whether the claim has ended, so that its release came too early
	 */
	synchronized void overtaken(Claim claim, long attempt, boolean granted, boolean ended) {
		if (ended) {
			this.unanswered.remove(claim.owner());
			unconfirmed(claim, attempt);
		}
		else if (granted) {
			addGranted(claim);
		}
	}

	/**
	 * Returns how many attempts of a claim that ends now the node may have granted, or
	 * zero if it processes none of them later than that.
	 */
	int mayReceiveLate(Claim claim) {
		return this.empty ? 0 : removeUnanswered(claim);
	}

	private synchronized int removeUnanswered(Claim claim) {
		Integer unanswered = this.unanswered.remove(claim.owner());
		noteEmpty();
		return (unanswered != null) ? unanswered : 0;
	}

	private void noteEmpty() {
		this.empty = this.neverSent.isEmpty() && this.unanswered.isEmpty() && this.unconfirmed.isEmpty();
	}

	/**
	 * Notes that a release may not have ended what the claim has, or will have, here.
	 * @param attempt the last attempt that it was to end, or {@link #EVERY_ATTEMPT}. The
	 * claim may hold the lock with a later one
	 */
	synchronized void unconfirmed(Claim claim, long attempt) {
		this.unconfirmed.merge(claim.owner(), new Ended(claim, attempt), Ended::with);
		this.empty = false;
	}

	/** Forgets a claim that makes an attempt, or whose release was confirmed. */
	void forget(Claim claim) {
		if (!this.empty) {
			remove(claim);
		}
	}

	/** Whether the node may have received a claim that ends now. */
	boolean mayHaveReceived(Claim claim) {
		return this.empty || !remove(claim);
	}

	/** Returns whether the claim was never sent. */
	private synchronized boolean remove(Claim claim) {
		this.unconfirmed.remove(claim.owner());
		boolean neverSent = this.neverSent.remove(claim.owner()) != null;
		noteEmpty();
		return neverSent;
	}

	/**
	 * Returns the claims whose attempts have ended, but block another one, as the node
	 * says.
	 * @param lock the lock of the claim that was rejected
	 * @param blocker who blocks it: an owner, or {@code readers}
	 */
	List<Ended> blocking(LockName lock, String blocker) {
		return this.empty ? List.of() : find(lock, blocker);
	}

	private synchronized List<Ended> find(LockName lock, String blocker) {
		return this.unconfirmed.values().stream().filter((ended) -> {
			Claim claim = ended.claim();
			return claim.owner().value().equals(blocker)
					|| (blocker.equals(READERS) && claim.mode() == LockMode.SHARED && claim.lock().equals(lock));
		}).toList();
	}

	/** Returns how many releases the node has not confirmed. */
	synchronized int unconfirmed() {
		return this.unconfirmed.size();
	}

	/**
	 * The attempts of a claim that have ended.
	 *
	 * @param claim the claim
	 * @param attempt the last of them, or {@link #EVERY_ATTEMPT}
	 */
	record Ended(Claim claim, long attempt) {

		Ended with(Ended other) {
			boolean every = this.attempt == EVERY_ATTEMPT || other.attempt == EVERY_ATTEMPT;
			return new Ended(this.claim, every ? EVERY_ATTEMPT : Math.max(this.attempt, other.attempt));
		}

	}

}
