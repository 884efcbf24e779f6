package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Watches the wait queue of a sticky lease for other claims, which demand the lease.
 *
 * <p>
 * While the node of the lease is the only one, no other change of its wait queue is
 * expected. So any change is a demand, and one watch is enough: a claim that has
 * withdrawn before this client could look counts as well, and so does the deletion of the
 * node by force. A change that is no demand only makes the lease end with its hold.
 */
final class DemandWatch {

	private final ZooKeeperCalls calls;

	DemandWatch(ZooKeeperCalls calls) {
		this.calls = calls;
	}

	/**
	 * Reads the wait queue of a claim, and watches it from then on.
	 */
	CompletableFuture<List<String>> read(QueueNode queueNode) {
		return watch(queueNode, new CompletableFuture<>());
	}

	private CompletableFuture<List<String>> watch(QueueNode queueNode, CompletableFuture<Void> wanted) {
		queueNode.wanted.set(wanted);
		return this.calls.children(queueNode.queue, () -> wanted.complete(null)).whenComplete((names, failure) -> {
			if (failure != null || !isAlone(queueNode, names)) {
				wanted.complete(null);
			}
		});
	}

	private static boolean isAlone(QueueNode queueNode, List<String> names) {
		List<QueueNodeName> queue = QueueNodeName.queue(names);
		return !queue.isEmpty() && queue.stream().allMatch((node) -> node.isOf(queueNode.claim));
	}

	/**
	 * Returns the demand for a lease that was granted. Reads the wait queue unless the
	 * node has been alone since the last time.
	 * @return completes when another claim demands the lease, or if the wait queue cannot
	 * be watched
	 */
	CompletionStage<Void> wanted(QueueNode queueNode) {
		CompletableFuture<Void> wanted = queueNode.wanted.get();
		if (wanted == null || wanted.isDone()) {
			wanted = new CompletableFuture<>();
			watch(queueNode, wanted);
		}
		return wanted.minimalCompletionStage();
	}

}
