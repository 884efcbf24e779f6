package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;

/**
 * What this JVM knows of one claim's node: where it is, which session made it, and whom
 * it waits for. Once it is over it makes no node any more. Guarded by itself; nothing is
 * asked of the store meanwhile.
 */
final class QueueNode {

	final Claim claim;

	final String queue;

	private CompletableFuture<Void> revoked = new CompletableFuture<>();

	/** The creation under way, of which there is one at most. */
	private @Nullable CompletableFuture<Boolean> creation;

	/** The deletion under way, of which there is one at most. */
	private @Nullable CompletableFuture<Void> deletion;

	/** The node, once it is known. */
	private ZooKeeperCalls.@Nullable Node node;

	private boolean over;

	private @Nullable Watch watch;

	/** How many interruptions there had been when the node was last asked for. */
	private int confirmedAfter;

	QueueNode(Claim claim, String queue, int interruptions) {
		this.claim = claim;
		this.queue = queue;
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
	void created(ZooKeeperCalls.Node node) {
		CompletableFuture<Void> former = null;
		synchronized (this) {
			if (this.node != null || this.revoked.isDone()) {
				former = this.revoked;
				this.revoked = new CompletableFuture<>();
			}
			this.node = node;
		}
		if (former != null) {
			former.complete(null);
		}
	}

	/** The node is gone, or not ours any more. */
	synchronized void forget() {
		this.node = null;
	}

	/**
	 * Makes the node, unless the place is over. Several attempts that find no node make
	 * one together.
	 * @return completes when it is made; whether by this attempt, and so after it began
	 */
	CompletableFuture<Boolean> createOnce(Supplier<CompletableFuture<Void>> create) {
		CompletableFuture<Boolean> mine = new CompletableFuture<>();
		synchronized (this) {
			if (this.over) {
				return CompletableFuture.failedFuture(new CancellationException("The claim was abandoned"));
			}
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

	/**
	 * Ends the place and deletes what it has made. A creation under way is awaited first,
	 * because its node may appear as long as it was not answered. Several callers share
	 * one deletion.
	 */
	CompletableFuture<Void> abandon(Supplier<CompletableFuture<Void>> delete) {
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<?> settled;
		synchronized (this) {
			this.over = true;
			if (this.deletion != null) {
				return this.deletion;
			}
			this.deletion = mine;
			settled = (this.creation != null) ? this.creation : CompletableFuture.completedFuture(null);
		}
		settled.handle((made, failure) -> delete.get())
			.thenCompose((deleted) -> deleted)
			.whenComplete((done, failure) -> {
				synchronized (this) {
					this.deletion = null;
				}
				if (failure != null) {
					mine.completeExceptionally(failure);
				}
				else {
					mine.complete(null);
				}
			});
		return mine;
	}

	/** Ends the place; nothing of it is left in the store. */
	synchronized void end() {
		this.over = true;
	}

	/** Whether the claim was abandoned, or its node went for good. */
	synchronized boolean over() {
		return this.over;
	}

	/** Completes when the session that made the present node is over. */
	synchronized CompletionStage<Void> revoked() {
		return this.revoked.minimalCompletionStage();
	}

	/**
	 * A session is over: a holder has lost the lock, and a waiter its place, unless the
	 * node is of the present session already.
	 * @return whether nothing of this place is left, neither in the store nor on the way
	 * there
	 */
	boolean sessionLost(long currentSession) {
		CompletableFuture<Void> loss;
		Watch former;
		boolean ends;
		synchronized (this) {
			boolean lost = this.node != null && this.node.session() != currentSession;
			ends = this.creation == null && (lost || this.node == null && this.over);
			if (!lost) {
				return ends;
			}
			this.over |= ends;
			this.node = null;
			loss = this.revoked;
			former = this.watch;
			this.watch = null;
		}
		loss.complete(null);
		if (former != null) {
			former.signal().complete(null);
		}
		return ends;
	}

	/**
	 * The path of the node if the given session made it: one of an older session is not
	 * ours.
	 */
	synchronized @Nullable String path(long currentSession) {
		return (this.node != null && this.node.session() == currentSession) ? this.node.path() : null;
	}

	synchronized @Nullable String path() {
		return (this.node != null) ? this.node.path() : null;
	}

	/** The number of the transaction that made the node, or zero if there is none. */
	synchronized long czxid() {
		return (this.node != null) ? this.node.czxid() : 0;
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
