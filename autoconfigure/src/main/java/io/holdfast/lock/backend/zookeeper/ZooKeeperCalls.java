package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;

/**
 * The requests that locks send to ZooKeeper, and what the client knows of its session. No
 * method blocks or throws; a stage fails with a {@link KeeperException}. Requests are
 * answered in the order in which they were sent, as long as the connection lasts.
 */
interface ZooKeeperCalls extends AutoCloseable {

	/** An id that no session has. */
	long UNKNOWN_SESSION = -1;

	/**
	 * Creates an ephemeral sequential node, and its parents as containers if they are
	 * missing. A repeated request may have created a second node.
	 * @param path the path before the number
	 * @param data the content
	 * @return the node; without a transaction number if the reply did not carry it
	 */
	CompletableFuture<Node> create(String path, String data);

	/** The names of the children, as the connected server sees them. */
	CompletableFuture<List<String>> children(String path);

	/**
	 * Asks the leader through the connected server. Unlike other requests it is never
	 * repeated: it fails with {@code ConnectionLoss} only if there was no connection at
	 * some time after it was sent.
	 */
	CompletableFuture<Void> sync(String path);

	/** The node, as the connected server sees it. */
	CompletableFuture<Node> stat(String path);

	/**
	 * Watches a node. Fails with {@code NoNode} and leaves no watch if it is missing.
	 * @param path the node
	 * @param changed runs when the node is deleted, or the session ends
	 */
	Watch watch(String path, Runnable changed);

	CompletableFuture<Void> delete(String path);

	/**
	 * Asks the leader whether a node exists, unchanged. Unlike a read, which a server
	 * that lags behind may answer, this cannot be stale; and it proves that the session
	 * lives.
	 */
	CompletableFuture<Void> check(String path);

	/**
	 * The id of the present session: zero if it has not begun, {@link #UNKNOWN_SESSION}
	 * while the client does not tell.
	 */
	long session();

	/** The session timeout that the server has granted, perhaps less than requested. */
	Duration sessionTimeout();

	/**
	 * Whether a thread delivers the answers.
	 */
	default boolean answersOn(Thread thread) {
		return false;
	}

	/**
	 * Reports every change of the connection, one after another.
	 * @param listener must not block
	 */
	void listen(Consumer<Connection> listener);

	/** Stops reporting. The client stays open. */
	@Override
	void close();

	/** Whether a request failed because the node does not exist any more, for certain. */
	static boolean gone(Throwable failure) {
		return noNode(failure) || changed(failure) || cause(failure) instanceof KeeperException.SessionExpiredException;
	}

	/** Whether a request failed because a node does not exist. */
	static boolean noNode(Throwable failure) {
		return cause(failure) instanceof KeeperException.NoNodeException;
	}

	/**
	 * Whether a request failed because a node has another content than it was made with.
	 */
	static boolean changed(Throwable failure) {
		return cause(failure) instanceof KeeperException.BadVersionException;
	}

	static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * A node that exists.
	 *
	 * @param path where it is
	 * @param session the session that it lives with
	 * @param czxid the number of the transaction that created it, or zero if the reply
	 * did not tell
	 */
	record Node(String path, long session, long czxid) {
	}

	/**
	 * A watch on a node.
	 *
	 * @param set completes when the server watches
	 * @param cancel takes the watch back
	 */
	record Watch(CompletableFuture<Void> set, Runnable cancel) {
	}

	/**
	 * The state of the connection.
	 */
	enum Connection {

		/** Connected, for the first time or again. */
		CONNECTED,

		/** Interrupted; the session may still live. */
		SUSPENDED,

		/** The session is over. */
		LOST

	}

}
