package io.holdfast.lock.test.server;

import java.util.ArrayList;
import java.util.List;

/**
 * A real Redis Cluster of three masters that share the slots. If one master fails, the
 * other two continue to serve their slots.
 */
public final class RedisCluster implements AutoCloseable {

	private static final int SLOTS = 16384;

	private final List<RedisServer> nodes = new ArrayList<>();

	private RedisCluster() {
	}

	/**
	 * Starts a cluster and waits until it serves all slots.
	 * @param settings lines for the configuration file of every node
	 * @return the cluster, which the caller must close
	 */
	public static RedisCluster started(String... settings) {
		RedisCluster cluster = new RedisCluster();
		try {
			cluster.form(settings);
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private void form(String... settings) {
		List<Integer> busPorts = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			int busPort = ServerProcess.freePort();
			busPorts.add(busPort);
			List<String> all = new ArrayList<>(List.of(settings));
			all.addAll(List.of("cluster-enabled yes", "cluster-port " + busPort, "cluster-node-timeout 2000",
					"cluster-require-full-coverage no"));
			RedisServer node = RedisServer.started(all.toArray(String[]::new));
			this.nodes.add(node);
			node.ask("cluster", "addslotsrange", Integer.toString(i * SLOTS / 3),
					Integer.toString((i + 1) * SLOTS / 3 - 1));
		}
		for (int i = 1; i < 3; i++) {
			this.nodes.get(0)
				.ask("cluster", "meet", ServerProcess.HOST, Integer.toString(this.nodes.get(i).port()),
						Integer.toString(busPorts.get(i)));
		}
		for (RedisServer node : this.nodes) {
			node.awaitOutput("cluster_state:ok", "cluster", "info");
			node.awaitOutput("cluster_known_nodes:3", "cluster", "info");
			// without full coverage, the state is ok before the node knows all slots
			node.awaitOutput("cluster_slots_ok:" + SLOTS, "cluster", "info");
		}
	}

	/**
	 * Returns the masters.
	 * @return the three servers
	 */
	public List<RedisServer> nodes() {
		return this.nodes;
	}

	/**
	 * Returns the keys on all nodes that match a pattern.
	 * @param pattern the pattern
	 * @return the keys
	 */
	public List<String> keys(String pattern) {
		return this.nodes.stream().flatMap((node) -> node.keys(pattern).stream()).toList();
	}

	/**
	 * Moves the slot of a key, with all keys in it, to another master, as
	 * {@code redis-cli --cluster reshard} does.
	 * @param key the key
	 */
	public void moveSlotOf(String key) {
		beginToMoveSlotOf(key).end();
	}

	/**
	 * Starts to move the slot of a key. Both masters are aware of the migration, but no
	 * key has been moved.
	 * @param key the key
	 * @return the move
	 */
	public Move beginToMoveSlotOf(String key) {
		String slot = this.nodes.get(0).ask("cluster", "keyslot", key);
		int owner = Integer.parseInt(slot) * 3 / SLOTS;
		RedisServer from = this.nodes.get(owner);
		RedisServer to = this.nodes.get((owner + 1) % 3);
		String fromId = from.ask("cluster", "myid");
		to.ask("cluster", "setslot", slot, "importing", fromId);
		from.ask("cluster", "setslot", slot, "migrating", to.ask("cluster", "myid"));
		return new Move(from, to, slot);
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisServer::close);
	}

	/**
	 * A slot that is being moved.
	 */
	public final class Move {

		private final RedisServer from;

		private final RedisServer to;

		private final String slot;

		private Move(RedisServer from, RedisServer to, String slot) {
			this.from = from;
			this.to = to;
			this.slot = slot;
		}

		/** Moves all keys. The slot still belongs to the former master. */
		public void moveKeys() {
			List<String> keys = this.from.ask("cluster", "getkeysinslot", this.slot, "1000").lines().toList();
			for (String moved : keys) {
				this.from.ask("migrate", ServerProcess.HOST, Integer.toString(this.to.port()), moved, "0", "5000");
			}
		}

		/** Moves the keys that are left, and assigns the slot. */
		public void end() {
			moveKeys();
			for (RedisServer node : RedisCluster.this.nodes) {
				node.ask("cluster", "setslot", this.slot, "node", this.to.ask("cluster", "myid"));
			}
		}

	}

}
