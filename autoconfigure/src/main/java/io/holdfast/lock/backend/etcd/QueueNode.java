package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.support.SchedulingClock;

/**
 * State of one claim's key in this JVM: its lease, the revision that created it, and the
 * key that it waits for. Thread-safe: guarded by its own monitor, which is never held
 * during a request to the store.
 */
final class QueueNode {

	final Claim claim;

	final ClaimKey key;

	private @Nullable Session session;

	private @Nullable EtcdLease lease;

	/** The revision that created the key, or 0 while it is unknown. */
	private long revision;

	private CompletableFuture<Void> revoked = new CompletableFuture<>();

	private boolean granted;

	private boolean ended;

	private boolean released;

	/** The number of requests that may still create the key. */
	private int open;

	private long openEpoch;

	/** Whether a rejected request may have created another key than the granted one. */
	private boolean mayHaveAnotherKey;

	private final QueueWait wait = new QueueWait();

	private final LeaseDemand demand = new LeaseDemand();

	QueueNode(ClaimKey key) {
		this.claim = key.claim();
		this.key = key;
	}

	/**
	 * Gives the key another name, unless a request may still create the present one, or
	 * the claim has ended.
	 */
	synchronized void renameKey() {
		if (this.open == 0 && this.revision == 0 && !this.ended) {
			this.key.rename();
		}
	}

	/**
	 * Attaches the key to a lease, unless it has one already or the claim has ended.
	 * Returns whether it did.
	 */
	synchronized boolean bind(EtcdLease lease, @Nullable Session session) {
		if (this.lease != null || this.ended) {
			return false;
		}
		this.lease = lease;
		this.session = session;
		return true;
	}

	synchronized @Nullable EtcdLease lease() {
		return this.lease;
	}

	/** Whether a claim that has not ended has this lease. */
	synchronized boolean has(EtcdLease lease) {
		return this.lease == lease && !this.ended;
	}

	/** Returns the session of the key's lease, or {@code null} if there is none. */
	synchronized @Nullable Session session() {
		return this.session;
	}

	/**
	 * Whether a request that creates the key may be sent. If so, it counts as open until
	 * it is answered.
	 */
	synchronized boolean open(long epoch) {
		if (this.ended || this.granted) {
			return false;
		}
		this.open++;
		this.openEpoch = Math.max(this.openEpoch, epoch);
		return true;
	}

	/** Records the response to a request that did not create the key. */
	synchronized void answered() {
		this.open--;
	}

	/**
	 * Records that a request, perhaps a late one, created or found a key. With a former
	 * lease, it counts as open: the next attempt attaches that key to the present one.
	 */
	synchronized void keyExists(long created, EtcdLease attached) {
		if (this.lease != attached) {
			return;
		}
		this.open--;
		if (created > this.revision) {
			this.revision = created;
			if (this.granted && !this.ended) {
				// the granted key is gone, so the claim may wait again
				this.wait.restart();
			}
		}
	}

	/** Whether the claim has no later key than that of a revision, and will get none. */
	synchronized boolean isLastKey(long created) {
		return this.open == 0 && this.revision == created && !this.mayHaveAnotherKey;
	}

	/** Whether an open request may still create the key. */
	synchronized boolean isOpen() {
		return this.open > 0;
	}

	/** Returns the latest epoch in which such a request was sent. */
	synchronized long openEpoch() {
		return this.openEpoch;
	}

	synchronized long revision() {
		return this.revision;
	}

	/** Forgets the key that this revision created, because it is gone. */
	synchronized void forgetKey(long revision) {
		if (this.revision == revision) {
			this.revision = 0;
		}
	}

	/**
	 * Forgets a lease that has ended, and the key with it. The next attempt needs another
	 * lease.
	 */
	synchronized void forgetLease(EtcdLease over) {
		if (this.lease == over && !this.granted && !this.ended) {
			leaveSession();
			this.lease = null;
			this.session = null;
			this.revision = 0;
			this.revoked = new CompletableFuture<>();
		}
	}

	private void leaveSession() {
		if (this.session != null) {
			this.session.leave();
		}
	}

	/** Grants the claim, unless it, its lease or the key of this revision has ended. */
	boolean grant(long revision) {
		synchronized (this) {
			if (this.ended || this.revision != revision || this.lease == null || this.lease.hasEnded()) {
				return false;
			}
			this.granted = true;
		}
		this.wait.stop();
		return true;
	}

	synchronized boolean isGranted() {
		return this.granted;
	}

	/**
	 * Ends the claim: no more requests that create its key are sent. Returns whether it
	 * had not ended before.
	 */
	boolean end() {
		return end(true);
	}

	private boolean end(boolean evenIfGranted) {
		synchronized (this) {
			if (this.ended || (this.granted && !evenIfGranted)) {
				return false;
			}
			this.ended = true;
			leaveSession();
		}
		this.wait.stop();
		this.demand.close();
		return true;
	}

	/**
	 * Ends the claim after a rejected request that may have created a key, unless it is
	 * granted. Its next attempt starts over. Returns whether it was never granted.
	 */
	boolean releaseUnlessGranted() {
		end(false);
		synchronized (this) {
			this.released |= !this.granted;
			this.mayHaveAnotherKey |= this.granted;
			return !this.granted;
		}
	}

	/** Ends the claim because its grant is released. */
	void release() {
		end();
		synchronized (this) {
			this.released = true;
		}
	}

	synchronized boolean isReleased() {
		return this.released;
	}

	synchronized boolean isEnded() {
		return this.ended;
	}

	/** Waits for a key, which is watched unless it is watched already. */
	CompletionStage<Void> waitFor(String before, long seenAt, Supplier<KeyWatch> start) {
		return this.wait.waitFor(before, seenAt, start);
	}

	/**
	 * Renews the claim's own lease regularly while the claim waits, so its position in
	 * the wait queue lasts as long as the wait.
	 */
	void renewWhileWaiting(EtcdLease waiting, SchedulingClock clock) {
		if (lease() == waiting) {
			this.wait
				.renewLater(() -> clock.after(waiting.length().dividedBy(3).toNanos(), () -> renew(waiting, clock)));
		}
	}

	private void renew(EtcdLease waiting, SchedulingClock clock) {
		this.wait.renewing();
		waiting.renewed().whenComplete((renewed, failure) -> {
			if (waiting.hasEnded()) {
				leaseEnded(waiting);
			}
		});
		renewWhileWaiting(waiting, clock);
	}

	/** Returns the demand for the sticky lease of this claim. */
	LeaseDemand demand() {
		return this.demand;
	}

	/**
	 * Handles the end of a lease: a holder has lost the lock, and a waiter its position.
	 * Does nothing if the claim has another lease meanwhile.
	 */
	void leaseEnded(EtcdLease over) {
		CompletableFuture<Void> loss;
		synchronized (this) {
			if (this.lease != over) {
				return;
			}
			loss = this.revoked;
		}
		loss.complete(null);
		this.wait.signal();
	}

	/** Completes when the claim's current lease has ended. */
	synchronized CompletionStage<Void> revoked() {
		return this.revoked.minimalCompletionStage();
	}

}
