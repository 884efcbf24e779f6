package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Connection;
import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Node;
import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Watch;
import io.holdfast.lock.support.Stages;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A real ZooKeeper or its model, as several clients see it. Converts responses to text in
 * which sessions and transactions are numbered in their order, so that the texts of both
 * can be compared.
 */
final class ComparedZooKeeper {

	private final List<Client> clients = new ArrayList<>();

	private final Function<CompletableFuture<String>, String> await;

	private final List<Long> sessions = new ArrayList<>(List.of(0L));

	/** The transaction that created each node, by the path of the node. */
	private final Map<String, Long> transactions = new HashMap<>();

	private long lastTransaction;

	/**
	 * Creates an instance without clients.
	 * @param await waits for a response
	 */
	ComparedZooKeeper(Function<CompletableFuture<String>, String> await) {
		this.await = await;
	}

	void add(ZooKeeperCalls calls) {
		this.clients.add(new Client(calls));
		this.await.apply(calls.sync("/").thenApply((done) -> ""));
		this.sessions.add(calls.session());
	}

	ZooKeeperCalls calls(int client) {
		return this.clients.get(client).calls;
	}

	/** Returns the response to a request, or the code of its failure. */
	String describe(int client, Function<ZooKeeperCalls, CompletableFuture<?>> request) {
		return this.await.apply(request.apply(calls(client)).handle(this::text));
	}

	private String text(Object answer, Throwable failure) {
		if (failure != null) {
			return (Stages.cause(failure) instanceof KeeperException known) ? known.code().toString()
					: failure.toString();
		}
		if (answer instanceof Node node) {
			return "%s of session %d%s".formatted(node.path(), this.sessions.indexOf(node.session()),
					(node.session() != 0) ? ", " + transaction(node) : "");
		}
		return (answer instanceof List<?> names) ? names.stream().map(String::valueOf).sorted().toList().toString()
				: String.valueOf(answer);
	}

	/**
	 * Describes the transaction that created a node. Later nodes must have greater
	 * numbers, and a node must keep its own.
	 */
	private String transaction(Node node) {
		Long known = this.transactions.putIfAbsent(node.path(), node.czxid());
		if (known == null) {
			assertThat(node.czxid()).as(node.path()).isGreaterThan(this.lastTransaction);
			this.lastTransaction = node.czxid();
			return "created now";
		}
		return (known == node.czxid()) ? "created before" : "created by another transaction";
	}

	/** Watches a node and returns the response. */
	String watch(int client, String path) {
		Client watching = this.clients.get(client);
		int number = watching.watches.size();
		Watch watch = watching.calls.watch(path, (deleted) -> watching.fired.add(number));
		watching.watches.add(watch);
		return this.await.apply(watch.set().handle(this::text));
	}

	/** Watches the children of a node and returns the response. */
	String watchChildren(int client, String path) {
		Client watching = this.clients.get(client);
		int number = --watching.latestChildWatch;
		return this.await.apply(watching.calls.children(path, () -> watching.fired.add(number)).handle(this::text));
	}

	/** Cancels a watch that has not fired. */
	void cancelWatch(int client, int which) {
		Client watching = this.clients.get(client);
		if (!watching.watches.isEmpty()) {
			int number = Math.floorMod(which, watching.watches.size());
			if (!watching.fired.contains(number) && watching.cancelled.add(number)) {
				watching.watches.get(number).cancel().run();
			}
		}
	}

	/** Returns the watches that have fired so far, except those that were canceled. */
	Set<Integer> fired(int client) {
		Set<Integer> fired = new TreeSet<>(this.clients.get(client).fired);
		fired.removeAll(this.clients.get(client).cancelled);
		return fired;
	}

	void forgetFired(int client) {
		this.clients.get(client).fired.clear();
	}

	/**
	 * Waits for the end of an interruption, and returns its notifications and the session
	 * of the client.
	 */
	String interruption(int client) {
		Client interrupted = this.clients.get(client);
		List<Connection> states = new ArrayList<>();
		this.await.apply(interrupted.connected.thenApply((done) -> ""));
		synchronized (interrupted.states) {
			states.addAll(interrupted.states);
			interrupted.states.clear();
			interrupted.connected = new CompletableFuture<>();
		}
		long session = interrupted.calls.session();
		boolean newSession = !this.sessions.contains(session);
		if (newSession) {
			this.sessions.add(session);
		}
		return states.stream().map(Connection::name).collect(Collectors.joining(", ")) + ", "
				+ (newSession ? "another session" : "session " + this.sessions.indexOf(session));
	}

	/** A client and its notifications. */
	private static final class Client {

		private final ZooKeeperCalls calls;

		private final List<Watch> watches = new ArrayList<>();

		/** Watches of children have negative numbers. */
		private int latestChildWatch;

		private final Set<Integer> fired = new ConcurrentSkipListSet<>();

		private final Set<Integer> cancelled = new TreeSet<>();

		private final List<Connection> states = new ArrayList<>();

		private volatile CompletableFuture<Connection> connected = new CompletableFuture<>();

		private boolean interrupted;

		Client(ZooKeeperCalls calls) {
			this.calls = calls;
			calls.listen(this::changed);
		}

		/**
		 * Records a change of the connection, except the first: a client may be connected
		 * already.
		 */
		private void changed(Connection state) {
			synchronized (this.states) {
				this.interrupted |= state == Connection.SUSPENDED;
				if (this.interrupted) {
					this.states.add(state);
					if (state == Connection.CONNECTED) {
						this.interrupted = false;
						this.connected.complete(state);
					}
				}
			}
		}

	}

}
