package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.support.Stages;

/**
 * Requests that locks send to ZooKeeper, and the client's view of its session. No method
 * blocks or throws; a stage fails with a {@link KeeperException}. Responses arrive in the
 * order of the requests as long as the connection lasts.
 */
interface ZooKeeperCalls extends AutoCloseable {

	/** An id that no session has. */
	long UNKNOWN_SESSION = -1;

	/** The id while the client starts a session. */
	long NO_SESSION = 0;

	/**
	 * Creates an ephemeral sequential node, and missing parents as containers. A repeated
	 * request may have created a second node.
	 * @param path the path before the sequence number
	 * @param data the content
	 * @return the node; without a transaction number if the reply did not contain it
	 */
	CompletableFuture<Node> create(String path, String data);

	/** Returns the names of the children, as the connected server sees them. */
	CompletableFuture<List<String>> children(String path);

	/**
	 * Returns the names of the children, and watches them. Fails and leaves no watch if
	 * the node does not exist.
	 * @param changed notified once when a child was created or deleted; the end of the
	 * session ends the watch
	 */
	CompletableFuture<List<String>> children(String path, Runnable changed);

	/**
	 * Sends a request to the leader through the connected server. It is never repeated.
	 * It fails with {@code ConnectionLoss} only if the connection was down at some time
	 * after it was sent.
	 */
	CompletableFuture<Void> sync(String path);

	/** Returns the node, as the connected server sees it. */
	CompletableFuture<Node> stat(String path);

	/**
	 * Watches a node. Fails with {@code NoNode} and leaves no watch if the node does not
	 * exist.
	 * @param path the node
	 * @param changed notified when the node may be gone or the session ends, with whether
	 * a server reports that the node is deleted
	 */
	Watch watch(String path, Consumer<Boolean> changed);

	/**
	 * Deletes a node. The response is that of the first request, so {@code NoNode} proves
	 * that the node did not exist before it. If that response is lost, the node is
	 * deleted later.
	 */
	CompletableFuture<Void> delete(String path);

	/**
	 * Asks the leader whether a node exists. The response cannot be stale, unlike that of
	 * a read, which a lagging server may answer. It also proves that the session is
	 * alive.
	 */
	CompletableFuture<Void> check(String path);

	/**
	 * Returns the id of the current session, {@link #NO_SESSION} until the client knows
	 * that it has started, or {@link #UNKNOWN_SESSION} while the client reports none.
	 */
	long session();

	/**
	 * Returns the session timeout granted by the server, which may be shorter than
	 * requested.
	 */
	Duration sessionTimeout();

	/** Whether a thread delivers the responses. */
	default boolean answersOn(Thread thread) {
		return false;
	}

	/**
	 * Notifies a listener of every change of the connection, one after another.
	 * @param listener must not block
	 */
	void listen(Consumer<Connection> listener);

	/** Stops notifying the listener. The client stays open. */
	@Override
	void close();

	/** Whether an id is that of a session that the client knows to have started. */
	static boolean isStarted(long session) {
		return session != NO_SESSION && session != UNKNOWN_SESSION;
	}

	/** Whether a failure proves that the node no longer exists, or not for long. */
	static boolean isGone(Throwable failure) {
		return noNode(failure) || Stages.cause(failure) instanceof KeeperException.SessionExpiredException;
	}

	/** Whether a request failed because a node does not exist. */
	static boolean noNode(Throwable failure) {
		return Stages.cause(failure) instanceof KeeperException.NoNodeException;
	}

	/** Whether the response to a request was lost. */
	static boolean connectionLost(Throwable failure) {
		return Stages.cause(failure) instanceof KeeperException.ConnectionLossException;
	}

	/**
	 * A node that exists.
	 *
	 * @param path its path
	 * @param session the session that owns it
	 * @param czxid the number of the transaction that created it, or zero if the reply
	 * did not contain it
	 */
	record Node(String path, long session, long czxid) {
	}

	/**
	 * A watch on a node.
	 *
	 * @param set completes when the server has set the watch
	 * @param cancel removes the watch
	 */
	record Watch(CompletableFuture<Void> set, Runnable cancel) {
	}

	/**
	 * State of the connection.
	 */
	enum Connection {

		/** Connected, for the first time or again. */
		CONNECTED,

		/** Interrupted; the session may still be alive. */
		SUSPENDED,

		/** The session has ended. */
		LOST

	}

}
