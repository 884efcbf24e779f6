package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Creates the nodes of claims in the wait queues of their locks, and deletes them.
 */
final class WaitQueue {

	private static final int NAME_LENGTH = 200;

	private static final int MOST_REPETITIONS = 3;

	private final ZooKeeperCalls calls;

	private final Consumer<QueueNode> lost;

	private final DemandWatch demandWatch;

	private final LastNodes lastNodes = new LastNodes();

	/** Reads wait queues for claims that ask again. */
	private final QueueReads reads;

	/**
	 * Reads wait queues for claims that leave, after the leader has answered: a lagging
	 * server may not show a node yet.
	 */
	private final QueueReads currentReads;

	/**
	 * Creates the queue.
	 * @param lost notified of each claim that has lost the lock, of which nothing is left
	 */
	WaitQueue(ZooKeeperCalls calls, Consumer<QueueNode> lost, SchedulingClock clock) {
		this.calls = calls;
		this.lost = lost;
		this.demandWatch = new DemandWatch(calls);
		this.reads = new QueueReads(this::read, clock);
		this.currentReads = new QueueReads((queue) -> calls.check(queue).thenCompose((current) -> read(queue)), clock);
	}

	/**
	 * Creates the node of a claim unless it exists, and reads the wait queue unless the
	 * node is proven to be the only one. The wait queue of a sticky lease is watched from
	 * its first reading on.
	 */
	CompletableFuture<List<QueueNodeName>> enqueue(QueueNode queueNode) {
		String path = queueNode.path(this.calls.session());
		if (path != null) {
			return recheck(queueNode, path);
		}
		LastNodes.LastNode last = this.lastNodes.of(queueNode.queue);
		boolean probablyAlone = last != null && last.followed() && !queueNode.claim.sticky();
		CompletableFuture<Boolean> created = queueNode.createOnce(() -> create(queueNode));
		// sent and answered right after the creation, so the list contains the node
		CompletableFuture<List<QueueNodeName>> queue = probablyAlone ? null : read(queueNode);
		return created.thenCompose((byThis) -> byThis ? readUnlessAlone(queueNode, queue) : enqueue(queueNode));
	}

	/**
	 * Uses the last node of which the server has told before it answered the creation: it
	 * may have been deleted right before.
	 */
	private CompletableFuture<List<QueueNodeName>> readUnlessAlone(QueueNode queueNode,
			@Nullable CompletableFuture<List<QueueNodeName>> queue) {
		LastNodes.LastNode last = this.lastNodes.of(queueNode.queue);
		ZooKeeperCalls.Node node = queueNode.node();
		QueueNodeName own = (node != null) ? QueueNodeName.ofPath(node.path()) : null;
		boolean follows = last != null && node != null && own != null && last.isFollowedBy(own.number(), node.czxid());
		queueNode.follows(follows);
		if (queue == null) {
			return follows ? CompletableFuture.completedFuture(List.of(own)) : read(queueNode);
		}
		return queue.handle((read, failure) -> {
			boolean seen = read != null && read.stream().anyMatch((other) -> other.isOf(queueNode.claim));
			return seen ? CompletableFuture.completedFuture(read) : read(queueNode);
		}).thenCompose((read) -> read);
	}

	/** Returns the demand of other claims for a sticky lease that was granted. */
	CompletionStage<Void> wanted(QueueNode queueNode) {
		return this.demandWatch.wanted(queueNode);
	}

	/** Deletes the node of a hold. */
	CompletableFuture<Void> release(QueueNode queueNode, String path) {
		ZooKeeperCalls.Node node = queueNode.node();
		boolean follows = queueNode.follows();
		return this.calls.delete(path).thenRun(() -> {
			QueueNodeName own = QueueNodeName.ofPath(path);
			if (own != null && !own.shared() && node != null && node.path().equals(path)) {
				this.lastNodes.put(queueNode.queue, new LastNodes.LastNode(own.number(), node.czxid(), follows));
			}
		});
	}

	/** Forgets the last nodes, because the next session may be one of other servers. */
	void sessionLost() {
		this.lastNodes.clear();
	}

	/**
	 * Confirms the node with the leader and reads the wait queue. Reading alone is not
	 * enough: a lagging server may show the node of an expired session, in a wait queue
	 * that others have already left. The lease counts from this check.
	 */
	private CompletableFuture<List<QueueNodeName>> recheck(QueueNode queueNode, String path) {
		CompletableFuture<Void> there = this.calls.check(path);
		CompletableFuture<List<QueueNodeName>> queue = this.reads.read(queueNode.queue);
		return there.thenCompose((yes) -> queue).exceptionallyCompose((failure) -> {
			if (!ZooKeeperCalls.isGone(failure)) {
				return CompletableFuture.failedFuture(failure);
			}
			if (queueNode.forget(path)) {
				this.lost.accept(queueNode);
			}
			return CompletableFuture.completedFuture(List.of());
		});
	}

	private CompletableFuture<Void> create(QueueNode queueNode) {
		String data = LockDigest.readable(queueNode.claim.lock(), NAME_LENGTH);
		return create(queueNode.queue + "/" + QueueNodeName.prefix(queueNode.claim), data, MOST_REPETITIONS)
			// a client that found the node after a lost reply does not know the
			// transaction
			.thenCompose((made) -> (made.czxid() != 0) ? CompletableFuture.completedFuture(made)
					: this.calls.stat(made.path()))
			.thenAccept(queueNode::created);
	}

	/**
	 * Creates a node, repeating the request if the server removes the empty wait queue
	 * between its creation and that of the node.
	 */
	private CompletableFuture<ZooKeeperCalls.Node> create(String path, String data, int repetitions) {
		return this.calls.create(path, data).exceptionallyCompose((failure) -> {
			if (!ZooKeeperCalls.noNode(failure)) {
				return CompletableFuture.failedFuture(failure);
			}
			return (repetitions > 0) ? create(path, data, repetitions - 1)
					: CompletableFuture.failedFuture(new ZooKeeperErrors.MissingParentException(Stages.cause(failure)));
		});
	}

	/**
	 * Creates a node in a wait queue, reads the wait queue, and deletes the node, as each
	 * client of locks must be able to. Also deletes what an interrupted check of this
	 * client has left.
	 * @param queue a wait queue of no lock
	 * @param client the name of this client's nodes
	 */
	CompletableFuture<Void> tryAccess(String queue, String client) {
		return create(queue + "/" + client, "", MOST_REPETITIONS).thenCompose((made) -> this.calls.children(queue))
			.thenCompose(
					(names) -> deleteAll(queue, names.stream().filter((name) -> name.startsWith(client)).toList()));
	}

	private CompletableFuture<List<QueueNodeName>> read(QueueNode queueNode) {
		return queueNode.claim.sticky() ? this.demandWatch.read(queueNode).thenApply(QueueNodeName::queue)
				: read(queueNode.queue);
	}

	private CompletableFuture<List<QueueNodeName>> read(String queue) {
		return this.calls.children(queue).thenApply(QueueNodeName::queue);
	}

	/**
	 * Returns the wait queue with a single node of this claim, and deletes the others.
	 * The client may have repeated a creation whose reply was lost, and a claim must not
	 * wait for itself.
	 */
	CompletableFuture<List<QueueNodeName>> withoutDuplicates(QueueNode queueNode, List<QueueNodeName> queue,
			QueueNodeName own) {
		List<QueueNodeName> doubles = queue.stream()
			.filter((other) -> other.isOf(queueNode.claim) && !other.equals(own))
			.toList();
		List<QueueNodeName> single = queue.stream().filter((other) -> !doubles.contains(other)).toList();
		return deleteClaims(queueNode.queue, doubles).thenApply((done) -> single);
	}

	/** Deletes the node of a claim that the wait queue contains only once. */
	CompletableFuture<Void> leave(QueueNode queueNode, QueueNodeName own) {
		return deleteClaims(queueNode.queue, List.of(own));
	}

	/**
	 * Deletes the nodes of a claim. If ZooKeeper denies that, for example because the
	 * wait queue cannot be read, deletes the one that is known.
	 * @param afterDenial returns the result after that, from the reason of the denial
	 */
	CompletableFuture<Void> leave(QueueNode queueNode, Function<Throwable, CompletableFuture<Void>> afterDenial) {
		return leave(queueNode).exceptionallyCompose((failure) -> {
			if (ZooKeeperErrors.refusal(failure, queueNode.queue) == null) {
				return CompletableFuture.failedFuture(failure);
			}
			String path = queueNode.path();
			CompletableFuture<Void> known = (path != null)
					? this.calls.delete(path).exceptionallyCompose(WaitQueue::unlessGone)
					: CompletableFuture.completedFuture(null);
			return known.thenCompose((deleted) -> afterDenial.apply(failure));
		});
	}

	/**
	 * Deletes the nodes of a claim by owner, not by path, because the reply with the path
	 * may have been lost.
	 */
	private CompletableFuture<Void> leave(QueueNode queueNode) {
		return this.currentReads.read(queueNode.queue)
			.thenCompose((names) -> deleteClaims(queueNode.queue,
					names.stream().filter((name) -> name.isOf(queueNode.claim)).toList()))
			.exceptionallyCompose(WaitQueue::unlessGone);
	}

	private CompletableFuture<Void> deleteClaims(String queue, List<QueueNodeName> names) {
		return deleteAll(queue, names.stream().map(QueueNodeName::name).toList());
	}

	private CompletableFuture<Void> deleteAll(String queue, List<String> names) {
		return CompletableFuture.allOf(names.stream()
			.map((name) -> this.calls.delete(queue + "/" + name).exceptionallyCompose(WaitQueue::unlessGone))
			.toArray(CompletableFuture[]::new));
	}

	private static CompletableFuture<Void> unlessGone(Throwable failure) {
		return ZooKeeperCalls.isGone(failure) ? CompletableFuture.completedFuture(null)
				: CompletableFuture.failedFuture(Stages.cause(failure));
	}

}
