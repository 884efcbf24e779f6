package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;

/**
 * Whether the connection is suspended, and how often it was: what was last heard of a
 * node before an interruption has to be asked again after it.
 */
final class Suspension {

	private final WhenSuspended policy;

	/** Done while the connection stands. */
	private volatile CompletableFuture<Void> over = CompletableFuture.completedFuture(null);

	private volatile int count;

	Suspension(WhenSuspended policy) {
		this.policy = policy;
	}

	/** Told of every change, one after another. */
	void changed(ZooKeeperCalls.Connection state) {
		if (state == ZooKeeperCalls.Connection.SUSPENDED) {
			this.over = this.over.isDone() ? new CompletableFuture<>() : this.over;
			this.count++;
		}
		else {
			this.over.complete(null);
		}
	}

	/** How often the connection was suspended up to now. */
	int count() {
		return this.count;
	}

	/**
	 * Completes when the connection is back, or the session lost; fails if that is not to
	 * be waited for.
	 */
	CompletableFuture<Void> over() {
		CompletableFuture<Void> back = this.over;
		return (back.isDone() || this.policy == WhenSuspended.WAIT) ? back.copy()
				: CompletableFuture.failedFuture(new IllegalStateException("the connection to ZooKeeper is suspended"));
	}

}
