package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;

/**
 * What this JVM knows of one claim's node: where it is, which session made it, and whom
 * it waits for. Guarded by itself; nothing is asked of the store meanwhile.
 */
final class Place {

	final Claim claim;

	final String line;

	private CompletableFuture<Void> revoked = new CompletableFuture<>();

	private @Nullable CompletableFuture<Boolean> creation;

	/** The node's path, once it is known. */
	private @Nullable String path;

	private long session;

	private long czxid;

	private boolean abandoned;

	private @Nullable Watch watch;

	private @Nullable Runnable end;

	/** How many interruptions there had been when the node was last asked for. */
	private int confirmedAfter;

	Place(Claim claim, String line, int interruptions) {
		this.claim = claim;
		this.line = line;
		this.confirmedAfter = interruptions;
	}

	/**
	 * The server has said that the node is there.
	 * @param interruptions how many there had been when it was asked
	 */
	synchronized void confirmed(int interruptions) {
		this.confirmedAfter = Math.max(this.confirmedAfter, interruptions);
	}

	/** Whether the node was asked for after the last of so many interruptions. */
	synchronized boolean confirmedSince(int interruptions) {
		return this.confirmedAfter == interruptions;
	}

	/** The node is there. One after a loss is another grant than that before. */
	synchronized void created(ZooKeeperCalls.Node node) {
		if (this.revoked.isDone()) {
			this.revoked = new CompletableFuture<>();
		}
		this.path = node.path();
		this.session = node.session();
		this.czxid = node.czxid();
	}

	/** The node is gone, or not ours any more. */
	synchronized void forget() {
		this.path = null;
		this.session = 0;
	}

	/**
	 * Several attempts that find no node make one together.
	 * @return completes when it is made; whether by this attempt, and so after it began
	 */
	CompletableFuture<Boolean> createOnce(Supplier<CompletableFuture<Void>> create) {
		CompletableFuture<Boolean> mine = new CompletableFuture<>();
		synchronized (this) {
			if (this.creation != null) {
				return this.creation.thenApply((done) -> false);
			}
			this.creation = mine;
		}
		create.get().whenComplete((done, failure) -> {
			synchronized (this) {
				this.creation = null;
			}
			if (failure != null) {
				mine.completeExceptionally(failure);
			}
			else {
				mine.complete(true);
			}
		});
		return mine;
	}

	/** Completes when the session that made the present node is over. */
	synchronized CompletionStage<Void> revoked() {
		return this.revoked.minimalCompletionStage();
	}

	/**
	 * A session is over: a holder has lost the lock, and a waiter its place, unless the
	 * node is of the present session already.
	 */
	void sessionLost(long currentSession) {
		CompletableFuture<Void> loss;
		Watch former;
		synchronized (this) {
			if (this.session == currentSession) {
				return;
			}
			loss = this.revoked;
			former = this.watch;
			this.watch = null;
		}
		loss.complete(null);
		if (former != null) {
			former.signal().complete(null);
		}
	}

	/**
	 * The path of the node if the given session made it: one of an older session is not
	 * ours.
	 */
	synchronized @Nullable String path(long currentSession) {
		return (this.session == currentSession) ? this.path : null;
	}

	synchronized @Nullable String path() {
		return this.path;
	}

	synchronized long czxid() {
		return this.czxid;
	}

	/** From now on a node of this claim that turns up is to be deleted. */
	synchronized void abandon() {
		this.abandoned = true;
	}

	synchronized boolean abandoned() {
		return this.abandoned;
	}

	/** The watch on a node, if it is watched already. */
	synchronized @Nullable Watch watchOn(String watched) {
		return (this.watch != null && this.watch.path().equals(watched)) ? this.watch : null;
	}

	/** Wait for another than before. */
	synchronized @Nullable Watch watch(@Nullable Watch next) {
		Watch before = this.watch;
		this.watch = next;
		return before;
	}

	/** Plan the end of the node, instead of the end that was planned before. */
	synchronized void endBy(@Nullable Runnable planned) {
		if (this.end != null) {
			this.end.run();
		}
		this.end = planned;
	}

	/**
	 * Whom a place waits for.
	 *
	 * @param path the node that must go
	 * @param signal completed then
	 * @param cancel takes the watch back
	 */
	record Watch(String path, CompletableFuture<Void> signal, Runnable cancel) {
	}

}
