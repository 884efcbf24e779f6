package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;

/**
 * A client of a model server whose requests are answered at once, unless a test holds
 * them in order to decide when each is carried out and answered, and how.
 */
final class ScriptedZooKeeper implements ZooKeeperCalls {

	static final Duration SESSION_TIMEOUT = Duration.ofSeconds(15);

	private final ModelTree server;

	private final List<Request<?>> held = new ArrayList<>();

	/** Requests that wait for the test: those whose name begins like this. */
	private String holding = "nothing";

	private final List<String> sent = new ArrayList<>();

	private Consumer<Connection> listener = (state) -> {
	};

	private long session;

	ScriptedZooKeeper(ModelTree server, long session) {
		this.server = server;
		this.session = session;
	}

	/** From now on the test carries out and answers each request of a kind. */
	void hold(String kind) {
		this.holding = kind;
	}

	void holdNothing() {
		this.holding = "nothing";
	}

	/** The oldest request that is held. */
	@SuppressWarnings("unchecked")
	<T> Request<T> next() {
		return (Request<T>) this.held.remove(0);
	}

	boolean holdsAny() {
		return !this.held.isEmpty();
	}

	/** What was sent since this was asked last. */
	List<String> sent() {
		List<String> all = List.copyOf(this.sent);
		this.sent.clear();
		return all;
	}

	/** The client learns of a change of its connection. */
	void connection(Connection state) {
		this.listener.accept(state);
	}

	/** The server ends the session, and the client begins another. */
	void expire(long next) {
		this.server.endSession(this.session);
		this.session = next;
		connection(Connection.SUSPENDED);
		connection(Connection.LOST);
	}

	/** The client has another session, or does not tell which. */
	void session(long id) {
		this.session = id;
	}

	private <T> CompletableFuture<T> send(String kind, String path, Callable<T> carryOut) {
		Request<T> request = new Request<>(carryOut);
		this.sent.add(kind + " " + path);
		if (kind.startsWith(this.holding)) {
			this.held.add(request);
		}
		else {
			request.carryOut();
			request.answer();
		}
		return request.answer;
	}

	@Override
	public CompletableFuture<Node> create(String path, String data) {
		return send("create", path, () -> this.server.create(path, this.session));
	}

	@Override
	public CompletableFuture<List<String>> children(String path) {
		return send("children", path, () -> this.server.children(path));
	}

	@Override
	public CompletableFuture<Void> sync(String path) {
		return send("sync", path, () -> null);
	}

	@Override
	public CompletableFuture<Node> stat(String path) {
		return send("stat", path, () -> this.server.node(path));
	}

	@Override
	public Watch watch(String path, Runnable changed) {
		CompletableFuture<Void> set = send("watch", path, () -> {
			this.server.watch(path, changed);
			return null;
		});
		return new Watch(set, () -> this.server.unwatch(path, changed));
	}

	@Override
	public CompletableFuture<Void> delete(String path) {
		return send("delete", path, () -> {
			this.server.delete(path);
			return null;
		});
	}

	@Override
	public CompletableFuture<Void> check(String path) {
		return send("check", path, () -> {
			this.server.check(path);
			return null;
		});
	}

	@Override
	public long session() {
		return this.session;
	}

	@Override
	public Duration sessionTimeout() {
		return SESSION_TIMEOUT;
	}

	@Override
	public void listen(Consumer<Connection> listener) {
		this.listener = listener;
	}

	@Override
	public void close() {
	}

	/**
	 * One request.
	 */
	static final class Request<T> {

		final CompletableFuture<T> answer = new CompletableFuture<>();

		private final Callable<T> carryOut;

		private T result;

		private Exception failure;

		Request(Callable<T> carryOut) {
			this.carryOut = carryOut;
		}

		/** The server carries it out, perhaps once more. */
		Request<T> carryOut() {
			try {
				this.result = this.carryOut.call();
				this.failure = null;
			}
			catch (Exception ex) {
				this.failure = ex;
			}
			return this;
		}

		/** The client hears of what came of it last. */
		void answer() {
			if (this.failure != null) {
				this.answer.completeExceptionally(this.failure);
			}
			else {
				this.answer.complete(this.result);
			}
		}

		/** The client hears that its connection broke before the answer. */
		void lose() {
			fail(new KeeperException.ConnectionLossException());
		}

		void fail(Exception reason) {
			this.answer.completeExceptionally(reason);
		}

	}

}
