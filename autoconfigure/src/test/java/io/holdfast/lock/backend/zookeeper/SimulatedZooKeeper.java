package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.simulation.SimulatedNode;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * A model of an ensemble with a leader and two followers, for the real backend. The
 * leader carries out all requests and ends sessions. The followers forward requests. When
 * the leader sends a ping, they report the sessions that they received requests from.
 */
public class SimulatedZooKeeper implements SimulatedStore {

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	private static final long PING_NANOS = TIMEOUT.toNanos() / 4;

	private final ModelTree tree = new ModelTree();

	private final List<SimulatedZooKeeperClient> clients = new ArrayList<>();

	private final Map<Long, Long> deadlines = new HashMap<>();

	private final SimulatedNode leader;

	/** Requests that wait for the leader. */
	private final List<Runnable> stalled = new ArrayList<>();

	private final List<Follower> followers = new ArrayList<>();

	private final Map<SimulatedProcess, ZooKeeperLockBackend> backends = new HashMap<>();

	private long sessions;

	/**
	 * Creates an empty ensemble.
	 * @param simulation the simulation
	 */
	public SimulatedZooKeeper(Simulation simulation) {
		this.leader = simulation.server("leader");
		this.followers.add(new Follower(simulation.server("follower0")));
		this.followers.add(new Follower(simulation.server("follower1")));
		this.leader.after(PING_NANOS, this::ping);
	}

	private void ping() {
		this.followers.forEach(Follower::reply);
		expire();
		this.leader.after(PING_NANOS, this::ping);
	}

	private void expire() {
		long now = this.leader.nanos();
		List<Long> over = this.deadlines.entrySet()
			.stream()
			.filter((session) -> session.getValue() < now)
			.map(Map.Entry::getKey)
			.toList();
		over.forEach(this::endSession);
	}

	void endSession(long session) {
		this.deadlines.remove(session);
		this.tree.endSession(session);
		this.clients.forEach((client) -> client.sessionOver(session));
	}

	/** Returns the client of the process that connected last. */
	SimulatedZooKeeperClient latestClient() {
		return this.clients.get(this.clients.size() - 1);
	}

	/** Extends a session of which the leader is notified. */
	void touch(long session) {
		this.deadlines.computeIfPresent(session, (id, deadline) -> this.leader.nanos() + TIMEOUT.toNanos());
	}

	/** Carries out a request in the order of arrival, once the leader runs. */
	<T> CompletableFuture<T> carryOut(Callable<T> request) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		Runnable task = () -> {
			try {
				answer.complete(request.call());
			}
			catch (Exception ex) {
				answer.completeExceptionally(ex);
			}
		};
		if (this.leader.paused()) {
			this.stalled.add(task);
		}
		else {
			task.run();
		}
		return answer;
	}

	private void resumeLeader() {
		this.leader.resume();
		List<Runnable> tasks = List.copyOf(this.stalled);
		this.stalled.clear();
		tasks.forEach(Runnable::run);
	}

	long createSession() {
		this.deadlines.put(++this.sessions, this.leader.nanos() + TIMEOUT.toNanos());
		return this.sessions;
	}

	boolean alive(long session) {
		expire();
		return this.deadlines.containsKey(session);
	}

	/** Returns the tree as the leader lets a session use it. */
	ModelTree tree(long session) throws KeeperException {
		if (!alive(session)) {
			throw new KeeperException.SessionExpiredException();
		}
		return this.tree;
	}

	/** Returns the tree as a follower shows it. */
	ModelTree tree() {
		return this.tree;
	}

	/** Returns the member that a process tries to connect to. */
	Follower follower(int process, int attempt) {
		return this.followers.get(Math.floorMod(process + attempt, this.followers.size()));
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		SimulatedZooKeeperClient client = new SimulatedZooKeeperClient(this, process);
		this.clients.add(client);
		started(client);
		ZooKeeperLockBackend backend = new ZooKeeperLockBackend(client,
				new ZooKeeperLockOptions("/holdfast", "shop", WhenSuspended.WAIT), process, Duration.ZERO, () -> {
				});
		this.backends.put(process, backend);
		return backend;
	}

	/** A session is proven for all of its time only some time after its start. */
	void started(SimulatedZooKeeperClient client) {
		client.disturbed();
	}

	@Override
	public Collection<String> leftovers() {
		List<String> left = new ArrayList<>(this.tree.paths());
		this.backends.forEach((process, backend) -> {
			if (!process.killed() && backend.remembered() > 0) {
				left.add("claims of " + process + ": " + backend.remembered());
			}
		});
		return left;
	}

	@Override
	public List<StoreFault> faults() {
		Follower first = this.followers.get(0);
		return List.of(new StoreFault("follower0 pauses", first.node::pause, first.node::resume),
				new StoreFault("follower0 crashes", first::crash, first::recover),
				new StoreFault("the leader pauses", this.leader::pause, this::resumeLeader));
	}

	/** Returns the session time that is proven at any moment when no fault occurs. */
	@Override
	public Duration longestLease() {
		return TIMEOUT.dividedBy(2);
	}

	/** Counts the timers of the next heartbeat and of the heartbeat under way. */
	@Override
	public int timersPerProcess() {
		return 2;
	}

	/**
	 * A member that is not the leader.
	 */
	final class Follower {

		final SimulatedNode node;

		private final Set<Long> pendingSessions = new HashSet<>();

		private final List<Runnable> connections = new ArrayList<>();

		private boolean dead;

		private boolean pausesAtPing;

		Follower(SimulatedNode node) {
			this.node = node;
		}

		boolean dead() {
			return this.dead;
		}

		void noteSession(long session) {
			this.pendingSessions.add(session);
		}

		/** Accepts a connection, which breaks when this member dies. */
		void accept(Runnable cut) {
			this.connections.add(cut);
		}

		void pauseAtPing() {
			this.pausesAtPing = true;
		}

		void resume() {
			this.pausesAtPing = false;
			this.node.resume();
		}

		private void reply() {
			if (this.pausesAtPing) {
				this.node.pause();
			}
			if (!this.node.paused()) {
				this.pendingSessions.forEach(SimulatedZooKeeper.this::touch);
				this.pendingSessions.clear();
			}
		}

		private void crash() {
			this.dead = true;
			this.pendingSessions.clear();
			List.copyOf(this.connections).forEach(Runnable::run);
			this.connections.clear();
		}

		private void recover() {
			this.dead = false;
		}

	}

}
