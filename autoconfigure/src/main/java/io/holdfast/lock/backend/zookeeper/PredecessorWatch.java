package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Watches the one node that blocks a claim, and no other. A release therefore wakes one
 * waiter instead of all of them.
 */
final class PredecessorWatch {

	private final ZooKeeperCalls calls;

	PredecessorWatch(ZooKeeperCalls calls) {
		this.calls = calls;
	}

	/** Completes when the node is deleted or the session ends. */
	CompletionStage<Void> watch(QueueNode queueNode, String path) {
		QueueNode.Watch present = queueNode.watchOn(path);
		if (present != null && !present.signal().isDone()) {
			return present.signal().minimalCompletionStage();
		}
		CompletableFuture<Void> signal = new CompletableFuture<>();
		ZooKeeperCalls.Watch watch = this.calls.watch(path, () -> signal.complete(null));
		forget(queueNode.watch(new QueueNode.Watch(path, signal, watch.cancel())));
		watch.set().whenComplete((seen, failure) -> {
			if (failure != null) {
				signal.complete(null);
			}
		});
		if (queueNode.isEnded()) {
			stop(queueNode);
		}
		return signal.minimalCompletionStage();
	}

	void stop(QueueNode queueNode) {
		forget(queueNode.watch(null));
	}

	private void forget(QueueNode.@Nullable Watch watch) {
		if (watch != null && !watch.signal().isDone()) {
			watch.cancel().run();
		}
	}

}
