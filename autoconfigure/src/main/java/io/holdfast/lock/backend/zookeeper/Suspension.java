package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;

/**
 * Suspension state of the connection and the number of suspensions so far. A node that
 * was confirmed before an interruption must be confirmed again after it.
 */
final class Suspension {

	private final WhenSuspended policy;

	/** Complete unless the connection is suspended. */
	private volatile CompletableFuture<Void> over = CompletableFuture.completedFuture(null);

	private volatile int count;

	Suspension(WhenSuspended policy) {
		this.policy = policy;
	}

	/** Handles a change of the connection state. Changes arrive one after another. */
	void changed(ZooKeeperCalls.Connection state) {
		if (state == ZooKeeperCalls.Connection.SUSPENDED) {
			this.over = this.over.isDone() ? new CompletableFuture<>() : this.over;
			this.count++;
		}
		else {
			this.over.complete(null);
		}
	}

	/** Whether the connection is suspended now. */
	boolean isActive() {
		return !this.over.isDone();
	}

	/** Returns the number of suspensions so far. */
	int count() {
		return this.count;
	}

	/**
	 * Completes when the connection is restored or the session is lost. Fails at once if
	 * the connection is suspended and the policy is {@link WhenSuspended#FAIL}.
	 */
	CompletableFuture<Void> over() {
		CompletableFuture<Void> back = this.over;
		return (back.isDone() || this.policy == WhenSuspended.WAIT) ? back.copy()
				: CompletableFuture.failedFuture(new IllegalStateException("the connection to ZooKeeper is suspended"));
	}

}
