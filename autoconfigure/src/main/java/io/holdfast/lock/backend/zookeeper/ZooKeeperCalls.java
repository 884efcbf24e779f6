package io.holdfast.lock.backend.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/**
 * The requests that locks need, each sent without waiting. They are answered in the order
 * in which they were sent, as long as the session's connection lasts.
 */
final class ZooKeeperCalls {

	private final CuratorFramework client;

	ZooKeeperCalls(CuratorFramework client) {
		this.client = client;
	}

	/** Make an ephemeral node at the end of a line, and the line if it is not there. */
	CompletableFuture<CuratorEvent> create(String path, String data) {
		return send((callback) -> this.client.create()
			.creatingParentContainersIfNeeded()
			.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
			.inBackground(callback)
			.forPath(path, data.getBytes(StandardCharsets.UTF_8)));
	}

	CompletableFuture<List<String>> children(String path) {
		return send((callback) -> this.client.getChildren().inBackground(callback).forPath(path))
			.thenApply(CuratorEvent::getChildren);
	}

	/** Bring what this client sees up to what had been written when this was sent. */
	CompletableFuture<CuratorEvent> sync(String path) {
		return send((callback) -> this.client.sync().inBackground(callback).forPath(path));
	}

	CompletableFuture<CuratorEvent> stat(String path) {
		return send((callback) -> this.client.getData().inBackground(callback).forPath(path));
	}

	/** Fails with {@code NoNode} if there is nothing to watch; leaves no watch then. */
	CompletableFuture<CuratorEvent> watch(String path, CuratorWatcher watcher) {
		return send((callback) -> this.client.getData().usingWatcher(watcher).inBackground(callback).forPath(path));
	}

	CompletableFuture<CuratorEvent> unwatch(String path, CuratorWatcher watcher) {
		return send(
				(callback) -> this.client.watchers().remove(watcher).quietly().inBackground(callback).forPath(path));
	}

	CompletableFuture<CuratorEvent> delete(String path) {
		return send((callback) -> this.client.delete().inBackground(callback).forPath(path));
	}

	/**
	 * Ask the leader whether a node is there, unchanged. Unlike a read, which a server
	 * that lags behind may answer, this cannot be stale; and it proves that the session
	 * lives.
	 */
	CompletableFuture<CuratorEvent> check(String path) {
		return send((callback) -> this.client.transaction()
			.inBackground(callback)
			.forOperations(this.client.transactionOp().check().withVersion(0).forPath(path)));
	}

	/** Whether a request failed because the node is not there any more, for certain. */
	static boolean gone(Throwable failure) {
		Throwable cause = cause(failure);
		return cause instanceof KeeperException.NoNodeException || cause instanceof KeeperException.BadVersionException
				|| cause instanceof KeeperException.SessionExpiredException;
	}

	static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	private static CompletableFuture<CuratorEvent> send(Request request) {
		CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
		try {
			request.send((client, event) -> {
				KeeperException.Code code = KeeperException.Code.get(event.getResultCode());
				if (code == KeeperException.Code.OK) {
					answer.complete(event);
				}
				else {
					answer.completeExceptionally(KeeperException.create(code, event.getPath()));
				}
			});
		}
		catch (Exception ex) {
			answer.completeExceptionally(ex);
		}
		return answer;
	}

	/**
	 * One request to be sent.
	 */
	@FunctionalInterface
	private interface Request {

		void send(BackgroundCallback callback) throws Exception;

	}

}
