package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;

/**
 * What this JVM knows of one claim's key: which lease it lives with, which revision made
 * it, and whom it waits for. Guarded by itself; nothing is asked of the store meanwhile.
 */
final class Place {

	final Claim claim;

	final String key;

	private @Nullable EtcdLease lease;

	/** The revision that created the key, or 0 as long as that is not known. */
	private long revision;

	private CompletableFuture<Void> revoked = new CompletableFuture<>();

	private boolean abandoned;

	private boolean unanswered;

	private @Nullable KeyWatch watch;

	private @Nullable Runnable end;

	Place(Claim claim, String key) {
		this.claim = claim;
		this.key = key;
	}

	/** The lease that the key lives with: the first that it was given. */
	synchronized EtcdLease bind(EtcdLease granted) {
		if (this.lease == null) {
			this.lease = granted;
		}
		return this.lease;
	}

	synchronized @Nullable EtcdLease lease() {
		return this.lease;
	}

	synchronized void stands(long revision) {
		this.revision = revision;
	}

	synchronized long revision() {
		return this.revision;
	}

	/** The key is gone; if its lease has ended, the next one gets another. */
	synchronized void forget() {
		this.revision = 0;
		if (this.lease != null && this.lease.hasEnded()) {
			this.lease = null;
			this.revoked = new CompletableFuture<>();
		}
	}

	/** From now on a key of this claim that turns up is to be deleted. */
	synchronized void abandon() {
		this.abandoned = true;
	}

	synchronized boolean isAbandoned() {
		return this.abandoned;
	}

	/** A request that creates the key may still be carried out. */
	synchronized void unanswered() {
		this.unanswered = true;
	}

	synchronized boolean isUnanswered() {
		return this.unanswered;
	}

	/** Wait for a key, which is watched if it is not yet. */
	CompletionStage<Void> waitFor(String before, Supplier<KeyWatch> begin) {
		synchronized (this) {
			if (this.watch != null && this.watch.key().equals(before) && !this.watch.isOver()) {
				return this.watch.signal();
			}
		}
		KeyWatch next = begin.get();
		swap(next);
		return next.signal();
	}

	void waitNoLonger() {
		swap(null);
	}

	private void swap(@Nullable KeyWatch next) {
		KeyWatch former;
		synchronized (this) {
			former = this.watch;
			this.watch = next;
		}
		if (former != null) {
			former.close();
		}
	}

	/** Its lease is over: a holder has lost the lock, and a waiter its place. */
	void leaseEnded() {
		CompletableFuture<Void> loss;
		KeyWatch present;
		synchronized (this) {
			loss = this.revoked;
			present = this.watch;
		}
		loss.complete(null);
		if (present != null) {
			present.end();
		}
	}

	/** Completes when the lease that the claim now lives with is over. */
	synchronized CompletionStage<Void> revoked() {
		return this.revoked.minimalCompletionStage();
	}

	/** Plan the end of the claim, instead of the end that was planned before. */
	synchronized void endBy(@Nullable Runnable planned) {
		if (this.end != null) {
			this.end.run();
		}
		this.end = planned;
	}

}
