package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.test.StoppedClock;

/**
 * A client of a model server that responds to requests at once, unless a test holds them.
 * The test then decides when and how each held request is carried out and answered.
 */
final class ScriptedZooKeeper implements ZooKeeperCalls {

	static final Duration SESSION_TIMEOUT = Duration.ofSeconds(15);

	private final ModelTree server;

	private final List<Request<?>> held = new ArrayList<>();

	/** The prefix of the kinds of requests that are held for the test. */
	private String holding = "nothing";

	private final List<String> sent = new ArrayList<>();

	private @Nullable Error error;

	private Consumer<Connection> listener = (state) -> {
	};

	private long session;

	private final StoppedClock clock = new StoppedClock();

	ScriptedZooKeeper(ModelTree server, long session) {
		this.server = server;
		this.session = session;
	}

	/** Creates a backend on this client and {@link #clock()}. */
	ZooKeeperLockBackend backend() {
		return backend(Duration.ZERO);
	}

	/** Creates a backend as {@link #backend()}, whose session may have that age. */
	ZooKeeperLockBackend backend(Duration longestAge) {
		return new ZooKeeperLockBackend(this, new ZooKeeperLockOptions("/holdfast", "shop", WhenSuspended.WAIT),
				this.clock, longestAge, () -> {
				});
	}

	StoppedClock clock() {
		return this.clock;
	}

	/** Holds each later request of a kind, for the test to carry out and to answer. */
	void hold(String kind) {
		this.holding = kind;
	}

	/** Lets the next request end in an error of the calling thread after it was sent. */
	void failNextCall(Error error) {
		this.error = error;
	}

	void holdNothing() {
		this.holding = "nothing";
	}

	/** Removes and returns the oldest held request. */
	@SuppressWarnings("unchecked")
	<T> Request<T> next() {
		return (Request<T>) this.held.remove(0);
	}

	boolean holdsAny() {
		return !this.held.isEmpty();
	}

	/** Returns the requests sent since the last call of this method. */
	List<String> sent() {
		List<String> all = List.copyOf(this.sent);
		this.sent.clear();
		return all;
	}

	/** Notifies the client of a change of its connection. */
	void connection(Connection state) {
		this.listener.accept(state);
	}

	/** Ends the session on the server and starts another session of the client. */
	void expire(long next) {
		this.server.endSession(this.session);
		this.session = next;
		connection(Connection.SUSPENDED);
		connection(Connection.LOST);
	}

	/** Sets the session of the client, which may be unknown. */
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
		Error thrown = this.error;
		this.error = null;
		if (thrown != null) {
			throw thrown;
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
	public CompletableFuture<List<String>> children(String path, Runnable changed) {
		return send("children, watched", path, () -> this.server.children(path, changed));
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
	public Watch watch(String path, Consumer<Boolean> listener) {
		Runnable changed = () -> listener.accept(true);
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
	 * A request that can be held.
	 */
	static final class Request<T> {

		final CompletableFuture<T> answer = new CompletableFuture<>();

		private final Callable<T> carryOut;

		private T result;

		private Exception failure;

		Request(Callable<T> carryOut) {
			this.carryOut = carryOut;
		}

		/** Carries out the request on the server, possibly once more. */
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

		/** Returns the latest outcome to the client. */
		void answer() {
			if (this.failure != null) {
				this.answer.completeExceptionally(this.failure);
			}
			else {
				this.answer.complete(this.result);
			}
		}

		/** Notifies the client that its connection broke before the response. */
		void lose() {
			fail(new KeeperException.ConnectionLossException());
		}

		void fail(Exception reason) {
			this.answer.completeExceptionally(reason);
		}

	}

}
