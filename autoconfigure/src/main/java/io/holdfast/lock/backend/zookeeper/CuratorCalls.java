package io.holdfast.lock.backend.zookeeper;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests through the application's Curator client, which retries most of them
 * according to its retry policy.
 */
final class CuratorCalls implements ZooKeeperCalls {

	private static final int ANY_VERSION = -1;

	private static final Runnable NOTHING = () -> {
	};

	private final CuratorFramework client;

	private Runnable stopListening = NOTHING;

	/** Each session has its own event thread; heartbeats keep this field up to date. */
	private volatile @Nullable Thread eventThread;

	/** Delivers the states of the connection, for which a suspended holder waits. */
	private volatile @Nullable Thread stateThread;

	CuratorCalls(CuratorFramework client) {
		this.client = client;
	}

	/**
	 * Returns the longest possible age of the client's session: zero if the client has
	 * not been started, otherwise the uptime of this JVM.
	 */
	static Duration longestAge(CuratorFramework client) {
		return (client.getState() == CuratorFrameworkState.LATENT) ? Duration.ZERO
				: Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime() + 1);
	}

	@Override
	public CompletableFuture<Node> create(String path, String data) {
		return send((callback) -> this.client.create()
			.creatingParentContainersIfNeeded()
			.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
			.inBackground(callback)
			.forPath(path, data.getBytes(StandardCharsets.UTF_8))).thenApply((event) -> node(event, event.getName()));
	}

	@Override
	public CompletableFuture<List<String>> children(String path) {
		return send((callback) -> this.client.getChildren().inBackground(callback).forPath(path))
			.thenApply(CuratorEvent::getChildren);
	}

	@Override
	public CompletableFuture<List<String>> children(String path, Runnable changed) {
		CuratorWatcher watcher = (event) -> {
			// the client sets its watches again once it is connected again
			if (event.getType() != EventType.None) {
				changed.run();
			}
		};
		return send((callback) -> this.client.getChildren().usingWatcher(watcher).inBackground(callback).forPath(path))
			.thenApply(CuratorEvent::getChildren);
	}

	@Override
	public CompletableFuture<Void> sync(String path) {
		// Curator also sees the connection state with a delay
		return sendOnce((zooKeeper, answered) -> zooKeeper.sync(path, (code, synced, context) -> {
			this.eventThread = Thread.currentThread();
			answered.processResult(code, synced, context);
		}, null));
	}

	@Override
	public CompletableFuture<Node> stat(String path) {
		return send((callback) -> this.client.checkExists().inBackground(callback).forPath(path))
			.thenApply((event) -> node(event, path));
	}

	@Override
	public Watch watch(String path, Consumer<Boolean> changed) {
		CuratorWatcher watcher = (event) -> {
			// the client sets its watches again once it is connected again
			if (event.getType() != EventType.None || event.getState() == KeeperState.Expired) {
				changed.accept(event.getType() == EventType.NodeDeleted);
			}
		};
		CompletableFuture<Void> set = done(
				(callback) -> this.client.getData().usingWatcher(watcher).inBackground(callback).forPath(path));
		// locally: the client would else set the watch again after an interruption
		return new Watch(set, () -> done(
				(callback) -> this.client.watchers().remove(watcher).locally().inBackground(callback).forPath(path)));
	}

	@Override
	public CompletableFuture<Void> delete(String path) {
		String namespace = this.client.getNamespace();
		String full = namespace.isEmpty() ? path : ZKPaths.fixForNamespace(namespace, path);
		return sendOnce((zooKeeper, answered) -> zooKeeper.delete(full, ANY_VERSION, answered, null))
			.whenComplete((deleted, failure) -> {
				if (failure instanceof KeeperException.ConnectionLossException) {
					deleteEventually(path);
				}
			});
	}

	/** Deletes a node, whose name is unique, even if the engine is closed meanwhile. */
	private void deleteEventually(String path) {
		try {
			this.client.delete().guaranteed().inBackground((client, event) -> {
			}).forPath(path);
		}
		catch (Exception ex) {
			// a closed client ends its session and so the node
		}
	}

	@Override
	public CompletableFuture<Void> check(String path) {
		return done((callback) -> this.client.transaction()
			.inBackground(callback)
			.forOperations(this.client.transactionOp().check().forPath(path)));
	}

	@Override
	public long session() {
		if (this.client.getState() != CuratorFrameworkState.STARTED) {
			return UNKNOWN_SESSION;
		}
		try {
			return this.client.getZookeeperClient().getZooKeeper().getSessionId();
		}
		catch (Exception ex) {
			return UNKNOWN_SESSION;
		}
	}

	@Override
	public Duration sessionTimeout() {
		try {
			return Duration.ofMillis(this.client.getZookeeperClient().getZooKeeper().getSessionTimeout());
		}
		catch (Exception ex) {
			return Duration.ofMillis(this.client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
		}
	}

	@Override
	public boolean answersOn(Thread thread) {
		return thread == this.eventThread || thread == this.stateThread;
	}

	@Override
	public void listen(Consumer<Connection> listener) {
		ConnectionStateListener states = (client, state) -> {
			this.stateThread = Thread.currentThread();
			if (state != ConnectionState.READ_ONLY) {
				listener.accept(connection(state));
			}
		};
		this.client.getConnectionStateListenable().addListener(states);
		Runnable ignoreClosing = listenToClosing(listener);
		this.stopListening = () -> {
			this.client.getConnectionStateListenable().removeListener(states);
			ignoreClosing.run();
		};
	}

	/**
	 * A client that the application closes ends its session without a change of its
	 * state. It announces that right before, unless it is a view with a namespace.
	 * @return stops listening
	 */
	private Runnable listenToClosing(Consumer<Connection> listener) {
		CuratorListener closing = (client, event) -> {
			if (event.getType() == CuratorEventType.CLOSING) {
				listener.accept(Connection.LOST);
			}
		};
		try {
			this.client.getCuratorListenable().addListener(closing);
			return () -> this.client.getCuratorListenable().removeListener(closing);
		}
		catch (UnsupportedOperationException | IllegalStateException ex) {
			// a hold is not confirmed once the view has no session
			return NOTHING;
		}
	}

	private static Connection connection(ConnectionState state) {
		return switch (state) {
			case SUSPENDED -> Connection.SUSPENDED;
			case LOST -> Connection.LOST;
			default -> Connection.CONNECTED;
		};
	}

	@Override
	public void close() {
		this.stopListening.run();
	}

	private static Node node(CuratorEvent event, String path) {
		Stat stat = event.getStat();
		return (stat != null) ? new Node(path, stat.getEphemeralOwner(), stat.getCzxid())
				: new Node(path, UNKNOWN_SESSION, 0);
	}

	/**
	 * Sends a request past Curator, which would retry it if the reply was lost. The
	 * second reply would not tell what the first request has done.
	 */
	private CompletableFuture<Void> sendOnce(SingleRequest request) {
		CompletableFuture<Void> answer = new CompletableFuture<>();
		try {
			request.send(this.client.getZookeeperClient().getZooKeeper(), (code, path, context) -> {
				if (code == KeeperException.Code.OK.intValue()) {
					answer.complete(null);
				}
				else {
					answer.completeExceptionally(KeeperException.create(KeeperException.Code.get(code), path));
				}
			});
		}
		catch (Exception ex) {
			answer.completeExceptionally(ex);
		}
		return answer;
	}

	private static CompletableFuture<Void> done(Request request) {
		return send(request).thenApply((event) -> null);
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
	 * A request to send.
	 */
	@FunctionalInterface
	private interface Request {

		void send(BackgroundCallback callback) throws Exception;

	}

	/**
	 * A request to send once.
	 */
	@FunctionalInterface
	private interface SingleRequest {

		void send(ZooKeeper zooKeeper, AsyncCallback.VoidCallback answered);

	}

}
