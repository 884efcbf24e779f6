package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.Stages;

/**
 * Watches the one node that blocks a claim, and no other. A release therefore wakes one
 * waiter instead of all of them.
 */
final class PredecessorWatch {

	private static final GuardedLog logger = GuardedLog.of(PredecessorWatch.class);

	private final ZooKeeperCalls calls;

	private final Consumer<QueueNode> confirmation;

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates the watch.
	 * @param confirmation asks the leader about the node of a claim that is the first
	 * now. The claim does not wait for it, so it follows the signal
	 */
	PredecessorWatch(ZooKeeperCalls calls, Consumer<QueueNode> confirmation) {
		this.calls = calls;
		this.confirmation = confirmation;
	}

	/**
	 * Watches the last of the nodes that block a claim.
	 * @param own the claim's node
	 * @param blockers the nodes that block it, in order
	 * @return completes when the watched node is deleted or the session ends
	 */
	CompletionStage<Void> watch(QueueNode queueNode, QueueNodeName own, List<QueueNodeName> blockers) {
		String path = queueNode.queue + "/" + blockers.get(blockers.size() - 1).name();
		ZooKeeperCalls.Node unblocked = (blockers.size() == 1) ? queueNode.node(own) : null;
		Watch present = queueNode.watch.get();
		if (present != null && present.path().equals(path) && !present.signal().isDone()) {
			return present.signal().minimalCompletionStage();
		}
		CompletableFuture<Void> signal = new CompletableFuture<>();
		Consumer<Boolean> changed = (deleted) -> {
			if (!deleted || unblocked == null) {
				signal.complete(null);
				return;
			}
			queueNode.unblocked(unblocked);
			signal.complete(null);
			this.confirmation.accept(queueNode);
		};
		start(queueNode, path, signal, changed);
		if (queueNode.isEnded()) {
			stop(queueNode);
		}
		return signal.minimalCompletionStage();
	}

	private void start(QueueNode queueNode, String path, CompletableFuture<Void> signal, Consumer<Boolean> changed) {
		ZooKeeperCalls.Watch request = this.calls.watch(path, changed);
		Watch watch = new Watch(path, signal, request.cancel());
		forget(queueNode.watch.getAndSet(watch));
		request.set().whenComplete((seen, failure) -> {
			if (failure == null) {
				removeUnlessPresent(queueNode, watch);
			}
			// no server that this client may use shows less than it has seen
			else if (mayBeGone(failure)) {
				changed.accept(ZooKeeperCalls.noNode(failure));
			}
			else {
				// the next attempt sets the watch again
				queueNode.watch.compareAndSet(watch, null);
				warnOfDenial(queueNode, failure);
			}
		});
	}

	/**
	 * Removes a watch that was stopped before it was set: the client repeats the request
	 * after an interruption.
	 */
	private static void removeUnlessPresent(QueueNode queueNode, Watch watch) {
		if (queueNode.watch.get() != watch) {
			watch.cancel().run();
		}
	}

	/**
	 * Whether another attempt may find the node deleted. A node that the client cannot
	 * read still blocks the claim, which makes its next attempt after the longest wait.
	 */
	private static boolean mayBeGone(Throwable failure) {
		return ZooKeeperCalls.isGone(failure) || ZooKeeperCalls.connectionLost(failure);
	}

	/**
	 * Warns once that a waiter may not read the node before its own. Its call would only
	 * report that another holder kept the lock.
	 */
	private void warnOfDenial(QueueNode queueNode, Throwable failure) {
		if (Stages.cause(failure) instanceof KeeperException.NoAuthException
				&& this.warned.compareAndSet(false, true)) {
			logger.warn(
					"Lock '%s' (backend zookeeper): ZooKeeper does not let this application read a node of another one in the wait queue (NOAUTH). It notices a release of such a lock only when it looks again, after up to %s, so a call with a shorter 'waitTime' may fail although the lock is free. Let the ACLProvider of each application that shares locks permit the others to read its nodes. This is logged once."
						.formatted(queueNode.claim.lock(), DurationText.of(ZooKeeperClaims.LONGEST_WAIT)));
		}
	}

	void stop(QueueNode queueNode) {
		forget(queueNode.watch.getAndSet(null));
	}

	private void forget(@Nullable Watch watch) {
		if (watch != null && !watch.signal().isDone()) {
			watch.cancel().run();
		}
	}

	/**
	 * A watch on the node that blocks a claim.
	 *
	 * @param path the node that must be deleted first
	 * @param signal completes when the node is deleted
	 * @param cancel removes the watch
	 */
	record Watch(String path, CompletableFuture<Void> signal, Runnable cancel) {
	}

}
