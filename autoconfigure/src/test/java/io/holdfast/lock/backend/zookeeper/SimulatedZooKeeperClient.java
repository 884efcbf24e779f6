package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.support.Stages;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedProcess;

/**
 * A client of the model of an ensemble. It connects to one follower after another, and
 * has one connection and one session at a time.
 */
final class SimulatedZooKeeperClient implements ZooKeeperCalls {

	private static final long READ_TIMEOUT = SimulatedZooKeeper.TIMEOUT.toNanos() * 2 / 3;

	private final SimulatedZooKeeper ensemble;

	private final SimulatedProcess process;

	private final List<Watching> watches = new ArrayList<>();

	private Consumer<Connection> listener = (state) -> {
	};

	private int attempts;

	private SimulatedZooKeeper.Follower follower;

	private SimulatedLink link;

	private boolean connected;

	private long session;

	private long sentAt;

	SimulatedZooKeeperClient(SimulatedZooKeeper ensemble, SimulatedProcess process) {
		this.ensemble = ensemble;
		this.process = process;
		this.sentAt = process.nanos();
		dial();
		// the application starts once its client is connected
		this.session = ensemble.createSession();
		this.connected = true;
	}

	private void dial() {
		do {
			this.follower = this.ensemble.follower(this.process.number(), this.attempts++);
		}
		while (this.follower.dead());
		SimulatedLink next = new SimulatedLink(this.process, this.follower.node, SimulatedLink.Order.IN_ORDER);
		this.link = next;
		next.onCut(() -> lost(next));
		this.follower.accept(next::cut);
	}

	/** Makes the connected server close the connection of a session that has ended. */
	void sessionOver(long id) {
		SimulatedLink present = this.link;
		if (this.session == id) {
			this.follower.node.execute(present::cut);
		}
	}

	void breakConnection() {
		this.link.cut();
	}

	private void lost(SimulatedLink which) {
		if (which != this.link) {
			return;
		}
		disturbed();
		if (this.connected) {
			this.connected = false;
			this.listener.accept(Connection.SUSPENDED);
		}
		dial();
		long former = this.session;
		if (former == NO_SESSION) {
			startSession();
			return;
		}
		timed(() -> this.ensemble.alive(former)).thenAccept((alive) -> {
			if (alive) {
				connected(true);
			}
			else {
				this.session = NO_SESSION;
				this.listener.accept(Connection.LOST);
				startSession();
			}
		});
	}

	/** The leader may have created the session long before the client knows of it. */
	private void startSession() {
		timed(this.ensemble::createSession).thenAccept((id) -> {
			this.session = id;
			connected(false);
		});
	}

	/**
	 * Continues with the former session, of which the leader was notified, or with a new
	 * one.
	 */
	private void connected(boolean former) {
		this.connected = true;
		this.listener.accept(Connection.CONNECTED);
		for (Watching watching : List.copyOf(this.watches)) {
			if (!former || watching.triggered || !this.ensemble.tree().exists(watching.path)) {
				watching.fire(former);
			}
		}
	}

	private <T> CompletableFuture<T> send(Callable<T> request) {
		if (!this.connected) {
			disturbed();
			return CompletableFuture.failedFuture(new KeeperException.ConnectionLossException());
		}
		return timed(request);
	}

	/**
	 * Notes that the process or its server was paused, so that the process has to prove
	 * its session again.
	 */
	private long noteSilence(long since) {
		long now = this.process.nanos();
		if (now - since > SimulatedZooKeeper.TIMEOUT.toNanos() / 8) {
			disturbed();
		}
		return now;
	}

	void disturbed() {
		this.process.disturbedUntil(this.process.simulation().now() + SimulatedZooKeeper.TIMEOUT.toNanos());
	}

	private <T> CompletableFuture<T> timed(Callable<T> request) {
		long sent = noteSilence(this.sentAt);
		this.sentAt = sent;
		SimulatedLink present = this.link;
		SimulatedZooKeeper.Follower member = this.follower;
		long id = this.session;
		boolean reconnects = !this.connected;
		Runnable cancel = this.process.after(READ_TIMEOUT, present::cut);
		return present.send(() -> {
			member.noteSession(id);
			return this.ensemble.carryOut(() -> {
				if (reconnects) {
					this.ensemble.touch(id);
				}
				return request.call();
			});
		}).whenComplete((answer, failure) -> {
			cancel.run();
			noteSilence(sent);
		}).exceptionallyCompose((failure) -> {
			Throwable cause = Stages.cause(failure);
			return CompletableFuture.failedFuture(
					(cause instanceof KeeperException) ? cause : new KeeperException.ConnectionLossException());
		});
	}

	@Override
	public CompletableFuture<Node> create(String path, String data) {
		long id = this.session;
		return send(() -> this.ensemble.tree(id).create(path, id));
	}

	@Override
	public CompletableFuture<List<String>> children(String path) {
		return send(() -> this.ensemble.tree().children(path));
	}

	@Override
	public CompletableFuture<List<String>> children(String path, Runnable changed) {
		Watching watching = new Watching(path, (inSession) -> {
			if (inSession) {
				changed.run();
			}
		});
		return watched(watching, () -> this.ensemble.tree().children(path, watching));
	}

	/** Sends a request that sets a watch, which exists only if the request succeeds. */
	private <T> CompletableFuture<T> watched(Watching watching, Callable<T> request) {
		CompletableFuture<T> set = send(request);
		this.watches.add(watching);
		return set.whenComplete((answer, failure) -> {
			if (failure != null) {
				this.watches.remove(watching);
			}
		});
	}

	@Override
	public CompletableFuture<Void> sync(String path) {
		long id = this.session;
		return send(() -> {
			this.ensemble.tree(id);
			return null;
		});
	}

	@Override
	public CompletableFuture<Node> stat(String path) {
		return send(() -> this.ensemble.tree().node(path));
	}

	@Override
	public Watch watch(String path, Consumer<Boolean> changed) {
		Watching watching = new Watching(path, changed);
		CompletableFuture<Void> set = watched(watching, () -> {
			this.ensemble.tree().watch(path, watching);
			return null;
		});
		return new Watch(set, () -> {
			this.watches.remove(watching);
			this.ensemble.tree().unwatch(path, watching);
		});
	}

	@Override
	public CompletableFuture<Void> delete(String path) {
		long id = this.session;
		return send(() -> {
			this.ensemble.tree(id).delete(path);
			return null;
		});
	}

	@Override
	public CompletableFuture<Void> check(String path) {
		long id = this.session;
		return send(() -> {
			this.ensemble.tree(id).check(path);
			return null;
		});
	}

	@Override
	public long session() {
		return this.session;
	}

	@Override
	public Duration sessionTimeout() {
		return SimulatedZooKeeper.TIMEOUT;
	}

	@Override
	public void listen(Consumer<Connection> listener) {
		this.listener = listener;
	}

	@Override
	public void close() {
	}

	/** A watch that notifies its client once. */
	private final class Watching implements Runnable {

		private final String path;

		private final Consumer<Boolean> changed;

		/** Whether the server has sent a notification, which may be lost. */
		private boolean triggered;

		Watching(String path, Consumer<Boolean> changed) {
			this.path = path;
			this.changed = changed;
		}

		@Override
		public void run() {
			this.triggered = true;
			SimulatedZooKeeperClient.this.link.push(() -> fire(true));
		}

		void fire(boolean deleted) {
			if (SimulatedZooKeeperClient.this.watches.remove(this)) {
				this.changed.accept(deleted);
			}
		}

	}

}
