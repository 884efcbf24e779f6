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

	/** The run id of the server that has answered last, or an empty text. */
	private volatile String server = "";

	private static <T> Map<OwnerId, T> latest() {
		return new LinkedHashMap<>() {

			@Override
			protected boolean removeEldestEntry(Map.Entry<OwnerId, T> eldest) {
				return size() > MOST;
			}

		};
	}

	/**
	 * Notes which server has answered. One that has restarted votes after the quarantine,
	 * when nothing of earlier attempts is left, so nothing of them must be released.
	 * @param runId the run id of the server
	 */
	void answeredBy(String runId) {
		if (!runId.equals(this.server)) {
			changeServer(runId);
		}
	}

	private synchronized void changeServer(String runId) {
		if (!this.server.isEmpty()) {
			this.unanswered.clear();
			this.unconfirmed.clear();
			noteEmpty();
		}
		this.server = runId;
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
		// without a count, the claim has ended meanwhile
		if (ended || !this.unanswered.containsKey(claim.owner())) {
			Integer late = this.unanswered.remove(claim.owner());
			unconfirmed(new Ended(claim, attempt, (late != null) ? late : 1));
		}
		else if (granted) {
			addGranted(claim);
		}
	}

	/**
	 * Takes what is known of a claim whose attempts end now.
	 * @param ended the attempts that a release ends
	 * @return these and those that earlier releases have not ended, with the number of
	 * attempts that the node may have granted, or zero if it processes none of them later
	 */
	Ended take(Ended ended) {
		return this.empty ? ended : takeKnown(ended);
	}

	private synchronized Ended takeKnown(Ended ended) {
		Ended before = this.unconfirmed.remove(ended.claim().owner());
		Integer late = this.unanswered.remove(ended.claim().owner());
		noteEmpty();
		Ended all = (before != null) ? ended.with(before) : ended;
		return (late != null) ? all.withLate(all.late() + late) : all;
	}

	/**
	 * Notes that a claim ends without a release, because the node has nothing of it.
	 * @param attempt its last attempt. The node may still process an earlier one
	 */
	void ended(Claim claim, long attempt) {
		if (!this.empty) {
			removeEnded(claim, attempt);
		}
	}

	private synchronized void removeEnded(Claim claim, long attempt) {
		Integer late = this.unanswered.remove(claim.owner());
		if (late != null) {
			unconfirmed(new Ended(claim, attempt, late));
		}
		removeNeverSent(claim);
	}

	private void noteEmpty() {
		this.empty = this.neverSent.isEmpty() && this.unanswered.isEmpty() && this.unconfirmed.isEmpty();
	}

	/** Notes that a release may not have ended what the claim has, or will have, here. */
	synchronized void unconfirmed(Ended ended) {
		this.unconfirmed.merge(ended.claim().owner(), ended, Ended::with);
		this.empty = false;
	}

	/**
	 * Notes that a release has ended all that was known when it was sent. The node may
	 * still process an attempt that has failed since then.
	 */
	void confirmed(Claim claim) {
		if (!this.empty) {
			removeConfirmed(claim);
		}
	}

	private synchronized void removeConfirmed(Claim claim) {
		this.unconfirmed.computeIfPresent(claim.owner(), (owner, ended) -> (ended.late() > 0) ? ended : null);
		noteEmpty();
	}

	/** Forgets a claim that makes an attempt. */
	void forget(Claim claim) {
		if (!this.empty) {
			remove(claim);
		}
	}

	private synchronized void remove(Claim claim) {
		this.unconfirmed.remove(claim.owner());
		removeNeverSent(claim);
	}

	/** Whether the node may have received a claim that ends now. */
	boolean mayHaveReceived(Claim claim) {
		return this.empty || !removeNeverSent(claim);
	}

	/** Returns whether the claim was never sent. */
	private synchronized boolean removeNeverSent(Claim claim) {
		boolean neverSent = this.neverSent.remove(claim.owner()) != null;
		noteEmpty();
		return neverSent;
	}

	/**
	 * Returns the claims whose attempts have ended, but block another one, as the node
	 * says. If one of them is a reader, returns all that may read the same lock: the node
	 * does not name each.
	 * @param lock the lock of the claim that was rejected
	 * @param blocker who blocks it: an owner, or {@link NodeResponse#READERS}
	 */
	List<Ended> blocking(LockName lock, String blocker) {
		return this.empty ? List.of() : find(lock, blocker);
	}

	private synchronized List<Ended> find(LockName lock, String blocker) {
		if (!blocker.startsWith(NodeResponse.READERS)) {
			return this.unconfirmed.values().stream().filter((ended) -> ended.isOf(blocker)).toList();
		}
		List<String> named = List.of(blocker.split(" "));
		List<Ended> readers = this.unconfirmed.values().stream().filter((ended) -> ended.reads(lock)).toList();
		return readers.stream().anyMatch((ended) -> named.stream().anyMatch(ended::isOf)) ? readers : List.of();
	}

	/** Returns how many releases the node has not confirmed. */
	synchronized int unconfirmed() {
		return this.unconfirmed.size();
	}

	/**
	 * The attempts of a claim that have ended.
	 *
	 * @param claim the claim
	 * @param attempt the last of them, or {@link #EVERY_ATTEMPT}. The claim may hold the
	 * lock with a later one
	 * @param late how many of them the node may still grant, as far as is known
	 */
	record Ended(Claim claim, long attempt, int late) {

		Ended with(Ended other) {
			boolean every = this.attempt == EVERY_ATTEMPT || other.attempt == EVERY_ATTEMPT;
			return new Ended(this.claim, every ? EVERY_ATTEMPT : Math.max(this.attempt, other.attempt),
					this.late + other.late);
		}

		boolean isOf(String owner) {
			return this.claim.owner().value().equals(owner);
		}

		boolean reads(LockName lock) {
			return this.claim.mode() == LockMode.SHARED && this.claim.lock().equals(lock);
		}

		Ended withLate(int late) {
			return new Ended(this.claim, this.attempt, late);
		}

	}

}
