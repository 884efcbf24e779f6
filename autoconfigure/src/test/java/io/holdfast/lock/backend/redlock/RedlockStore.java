package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedNode;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The Redlock backend on models of three nodes.
 */
public final class RedlockStore implements SimulatedStore {

	private static final Duration LONGEST_LEASE = Duration.ofSeconds(30);

	private static final RedlockLockOptions OPTIONS = new RedlockLockOptions("sim", Duration.ofSeconds(1),
			Duration.ofMillis(50), 0.01, LONGEST_LEASE, true);

	private final List<SimulatedNode> servers = new ArrayList<>();

	private final List<RedlockNodeModel> models = new ArrayList<>();

	/** For each node, its subscribers by their channels. */
	private final List<Map<String, Client>> subscribers = new ArrayList<>();

	private final SimulatedLink.Order order;

	private final Map<SimulatedProcess, RedlockLockBackend> backends = new LinkedHashMap<>();

	/** Whether the address of the third node leads to the second one. */
	private boolean moved;

	/**
	 * Creates nodes that vote.
	 * @param simulation the simulation
	 */
	public RedlockStore(Simulation simulation) {
		this(simulation, SimulatedLink.Order.ANY);
	}

	/**
	 * Creates nodes that vote.
	 * @param simulation the simulation
	 * @param order the order in which requests reach a node
	 */
	RedlockStore(Simulation simulation, SimulatedLink.Order order) {
		this.order = order;
		for (int i = 1; i <= 3; i++) {
			SimulatedNode server = simulation.server("node-" + i);
			Map<String, Client> subscribers = new HashMap<>();
			RedlockNodeModel model = new RedlockNodeModel("node-" + i, () -> 1_000_000_000L + server.nanos() / 1_000,
					(channel, owner) -> subscribers.containsKey(channel) && subscribers.get(channel).deliver(owner));
			model.admit();
			this.servers.add(server);
			this.models.add(model);
			this.subscribers.add(subscribers);
		}
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		List<NodeClient> clients = new ArrayList<>();
		for (int i = 0; i < this.servers.size(); i++) {
			int index = i;
			clients.add(new Client(process, this.servers.get(i),
					() -> this.models.get((this.moved && index == 2) ? 1 : index), this.subscribers.get(i),
					this.order));
		}
		RedlockLockBackend backend = new RedlockLockBackend(clients, OPTIONS, process, () -> {
		});
		// an application does this at startup, before the run
		backend.verify();
		this.backends.put(process, backend);
		return backend;
	}

	@Override
	public Collection<String> leftovers() {
		List<String> left = new ArrayList<>();
		this.models.forEach((model) -> left.addAll(model.leftovers()));
		this.backends.forEach((process, backend) -> {
			if (!process.killed() && backend.waiting() > 0) {
				left.add("claims that wait in %s: %d".formatted(process, backend.waiting()));
			}
		});
		return left;
	}

	@Override
	public List<StoreFault> faults() {
		List<StoreFault> faults = new ArrayList<>();
		this.servers.forEach((server) -> faults.add(new StoreFault(server + " pauses", server::pause, server::resume)));
		// only one node: without two of three, no lock is granted for the longest lease
		SimulatedNode restarting = this.servers.get(2);
		faults.add(new StoreFault(restarting + " restarts without memory", restarting::pause, () -> {
			this.models.get(2).restart();
			restarting.resume();
		}));
		faults.add(new StoreFault("the address of " + restarting + " leads to another node", () -> this.moved = true,
				() -> this.moved = false));
		return faults;
	}

	private static final class Client implements NodeClient {

		private final SimulatedProcess process;

		private final SimulatedNode server;

		private final Supplier<RedlockNodeModel> model;

		private final SimulatedLink link;

		private final SimulatedLink.Order order;

		private final Map<String, Client> subscribers;

		private Consumer<String> listener = (message) -> {
		};

		Client(SimulatedProcess process, SimulatedNode server, Supplier<RedlockNodeModel> model,
				Map<String, Client> subscribers, SimulatedLink.Order order) {
			this.subscribers = subscribers;
			this.order = order;
			this.process = process;
			this.server = server;
			this.model = model;
			this.link = new SimulatedLink(process, server, order);
		}

		@Override
		public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
			CompletableFuture<List<Object>> answer = this.link.call(() -> this.model.get().run(script, keys, args));
			Runnable cancel = this.process.after(OPTIONS.responseTimeout().toNanos(),
					() -> answer.completeExceptionally(new TimeoutException()));
			return answer.whenComplete((value, failure) -> cancel.run());
		}

		/**
		 * Responds at once, because an application connects at startup, before the run.
		 */
		@Override
		public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
			return CompletableFuture.completedFuture(this.model.get().run(script, keys, args));
		}

		@Override
		public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
			this.listener = listener;
			this.subscribers.put(channel, this);
			return CompletableFuture.completedFuture(channel);
		}

		/** Sends a message to the listener and returns whether the node knows of one. */
		boolean deliver(String message) {
			if (this.process.killed()) {
				return false;
			}
			this.link.push(() -> this.listener.accept(message));
			return true;
		}

		@Override
		public boolean isOrdered() {
			return this.order == SimulatedLink.Order.IN_ORDER;
		}

		@Override
		public String address() {
			return this.server.name();
		}

		@Override
		public void close() {
		}

	}

}
