package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.support.SharedRequest;
import io.holdfast.lock.support.Stages;

/**
 * State of one claim's node in this JVM: its path, the session that created it, and the
 * node that it waits for. Once the claim has ended, it creates no more nodes.
 * Thread-safe: guarded by its own monitor, which is never held during a request to the
 * store.
 */
final class QueueNode {

	final Claim claim;

	final String queue;

	/** The watch on the node that blocks this claim. */
	final AtomicReference<PredecessorWatch.@Nullable Watch> watch = new AtomicReference<>();

	/** Completes with the next change of the wait queue, once it is watched. */
	final AtomicReference<@Nullable CompletableFuture<Void>> wanted = new AtomicReference<>();

	private CompletableFuture<Void> revoked = new CompletableFuture<>();

	/** The creation under way; there is at most one. */
	private @Nullable CompletableFuture<Boolean> creation;

	/** Whether a creation without a response may have left another node. */
	private boolean uncertain;

	private final SharedRequest<Void> deletion = new SharedRequest<>();

	/** The node, once it is known. */
	private ZooKeeperCalls.@Nullable Node node;

	/** The node, once the last node before it is known to be deleted. */
	private ZooKeeperCalls.@Nullable Node unblocked;

	/** Whether the node was proven to be alone when it was created. */
	private boolean follows;

	private boolean ended;

	private boolean granted;

	/** The number of attempts of the claim so far. */
	private int attempts;

	/** The number of interruptions when the last confirmed request was sent. */
	private int confirmedAfter;

	QueueNode(Claim claim, String queue, int interruptions) {
		this.claim = claim;
		this.queue = queue;
		this.confirmedAfter = interruptions;
	}

	/**
	 * Records that the server has confirmed the node.
	 * @param interruptions the number of interruptions when the request was sent
	 */
	synchronized void confirmed(int interruptions) {
		this.confirmedAfter = Math.max(this.confirmedAfter, interruptions);
	}

	/**
	 * Whether the node was confirmed after the latest interruption, given the number of
	 * interruptions so far.
	 */
	synchronized boolean confirmedSince(int interruptions) {
		return this.confirmedAfter == interruptions;
	}

	/** Records a created node. A node that follows a lost one is a new grant. */
	void created(ZooKeeperCalls.Node node) {
		CompletableFuture<Void> former = null;
		synchronized (this) {
			if (this.node != null || this.revoked.isDone()) {
				former = this.revoked;
				this.revoked = new CompletableFuture<>();
			}
			this.node = node;
			this.granted = false;
		}
		if (former != null) {
			former.complete(null);
		}
	}

	synchronized void follows(boolean follows) {
		this.follows = follows;
	}

	synchronized boolean follows() {
		return this.follows;
	}

	/** Records that the only node before the given one of this claim is deleted. */
	synchronized void unblocked(ZooKeeperCalls.Node node) {
		this.unblocked = node;
	}

	/**
	 * Whether the node of the given session is known to be the first. Returns this once:
	 * a repeated attempt asks the leader.
	 */
	synchronized boolean takeUnblocked(long currentSession) {
		ZooKeeperCalls.Node first = this.unblocked;
		this.unblocked = null;
		return first != null && first == this.node && first.session() == currentSession && !this.ended;
	}

	/**
	 * Forgets the node with this path, which is deleted. A claim that was granted with it
	 * has lost the lock.
	 * @return whether nothing of such a claim is left, so that it has ended
	 */
	boolean forget(String deleted) {
		CompletableFuture<Void> loss;
		boolean ends;
		synchronized (this) {
			if (!hasNode(deleted)) {
				return false;
			}
			this.node = null;
			if (!this.granted) {
				return false;
			}
			loss = this.revoked;
			ends = hasNoOtherNode();
			this.ended |= ends;
		}
		loss.complete(null);
		return ends;
	}

	/**
	 * Ends the claim unless it has or creates another node than one that is gone: a late
	 * response may be about a former node.
	 * @param gone whether a node is gone, or belongs to a former session
	 * @return whether it ends
	 */
	synchronized boolean endWithout(Predicate<ZooKeeperCalls.Node> gone) {
		boolean ends = hasNoOtherNode() && (this.node == null || gone.test(this.node));
		this.ended |= ends;
		return ends;
	}

	/** The session of another node may be a later one, and alive. */
	private boolean hasNoOtherNode() {
		return this.creation == null && !this.uncertain;
	}

	private boolean hasNode(String path) {
		return this.node != null && this.node.path().equals(path);
	}

	/**
	 * Creates the node unless the claim has ended. Concurrent attempts that find no node
	 * share one creation.
	 * @return completes when the node is created; {@code true} if this call created it,
	 * and therefore after this call started
	 */
	CompletableFuture<Boolean> createOnce(Supplier<CompletableFuture<Void>> create) {
		CompletableFuture<Boolean> mine = new CompletableFuture<>();
		synchronized (this) {
			if (this.ended) {
				return CompletableFuture.failedFuture(new CancellationException("The claim was abandoned"));
			}
			if (this.creation != null) {
				return this.creation.thenApply((done) -> false);
			}
			this.creation = mine;
		}
		Stages.attempt(create).whenComplete((done, failure) -> {
			synchronized (this) {
				this.creation = null;
				this.uncertain |= failure != null;
			}
			Stages.settle(mine, true, failure);
		});
		return mine;
	}

	/**
	 * Ends the claim and deletes its node. Waits for a creation under way first, because
	 * its node may appear until the request is answered. Concurrent callers share one
	 * deletion.
	 */
	CompletableFuture<Void> abandon(Supplier<CompletableFuture<Void>> delete) {
		CompletableFuture<?> settled;
		synchronized (this) {
			this.ended = true;
			settled = (this.creation != null) ? this.creation : CompletableFuture.completedFuture(null);
		}
		return this.deletion
			.send(() -> settled.handle((made, failure) -> delete.get()).thenCompose((deleted) -> deleted));
	}

	/** Grants the claim its only node; returns whether it has not ended. */
	synchronized boolean grant() {
		this.granted |= !this.ended;
		this.uncertain = false;
		return !this.ended;
	}

	/** Returns the number of a new attempt. */
	synchronized int nextAttempt() {
		return ++this.attempts;
	}

	/** Ends a claim unless it is granted or has made a later attempt than this one. */
	synchronized boolean endUnlessGranted(int attempt) {
		this.ended |= !this.granted && attempt == this.attempts;
		return this.ended;
	}

	/** Ends the claim after everything that it left in the store is gone. */
	synchronized void end() {
		this.ended = true;
	}

	/** Whether the claim was abandoned or its node is gone for good. */
	synchronized boolean isEnded() {
		return this.ended;
	}

	/** Completes when the session that created the current node has ended. */
	synchronized CompletionStage<Void> revoked() {
		return this.revoked.minimalCompletionStage();
	}

	/**
	 * Handles the end of a session. A holder has lost the lock and a waiter its position,
	 * unless the node already belongs to the current session.
	 * @return whether nothing of this claim is left, neither in the store nor in a
	 * request under way
	 */
	boolean sessionLost(long currentSession) {
		CompletableFuture<Void> loss;
		PredecessorWatch.@Nullable Watch former;
		boolean ends;
		synchronized (this) {
			boolean lost = this.node != null && this.node.session() != currentSession;
			ends = hasNoOtherNode() && (lost || this.node == null && this.ended);
			if (!lost) {
				return ends;
			}
			this.ended |= ends;
			this.node = null;
			loss = this.revoked;
			former = this.watch.getAndSet(null);
		}
		loss.complete(null);
		if (former != null) {
			former.signal().complete(null);
		}
		return ends;
	}

	/**
	 * Returns the node's path if the given session created the node. A node of an older
	 * session does not belong to this claim.
	 */
	synchronized @Nullable String path(long currentSession) {
		return (this.node != null && this.node.session() == currentSession) ? this.node.path() : null;
	}

	synchronized ZooKeeperCalls.@Nullable Node node() {
		return this.node;
	}

	/** Returns the node if it has the given name, and not one of an earlier session. */
	synchronized ZooKeeperCalls.@Nullable Node node(QueueNodeName name) {
		return (this.node != null && this.node.path().endsWith("/" + name.name())) ? this.node : null;
	}

	synchronized @Nullable String path() {
		return (this.node != null) ? this.node.path() : null;
	}

	/** Returns the transaction that created the node, or zero if there is no node. */
	synchronized long czxid() {
		return (this.node != null) ? this.node.czxid() : 0;
	}

}
