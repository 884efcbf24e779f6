package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Node;

/**
 * The nodes of a model of ZooKeeper, as one server knows them. A container is created
 * with its first child, and sequence numbers count the nodes created within a parent.
 */
final class ModelTree {

	private final Map<String, Node> nodes = new TreeMap<>();

	private final Map<String, Container> containers = new TreeMap<>();

	private final Map<String, List<Runnable>> watches = new HashMap<>();

	private final Map<String, List<Runnable>> childWatches = new HashMap<>();

	private long zxid;

	/** Creates an ephemeral sequential node, and its parents if they are missing. */
	Node create(String prefix, long session) {
		Container parent = container(parent(prefix));
		Node node = new Node("%s%010d".formatted(prefix, parent.created++), session, ++this.zxid);
		this.nodes.put(node.path(), node);
		fireParent(node.path());
		return node;
	}

	/** Sets how many nodes were created in a wait queue, which is created if missing. */
	void created(String queue, long count) {
		container(queue).created = count;
	}

	private Container container(String path) {
		Container present = this.containers.get(path);
		if (present != null) {
			return present;
		}
		if (!parent(path).isEmpty()) {
			container(parent(path)).created++;
		}
		Container made = new Container(new Node(path, 0, ++this.zxid));
		this.containers.put(path, made);
		fireParent(path);
		return made;
	}

	boolean exists(String path) {
		return this.nodes.containsKey(path) || this.containers.containsKey(path);
	}

	Node node(String path) throws KeeperException {
		if (!exists(path)) {
			throw new KeeperException.NoNodeException(path);
		}
		Node node = this.nodes.get(path);
		return (node != null) ? node : this.containers.get(path).node;
	}

	/** Verifies that a node exists. */
	void check(String path) throws KeeperException {
		node(path);
	}

	void delete(String path) throws KeeperException {
		node(path);
		if (!names(path).isEmpty()) {
			throw new KeeperException.NotEmptyException(path);
		}
		this.zxid++;
		this.nodes.remove(path);
		this.containers.remove(path);
		fire(path);
	}

	List<String> children(String parent) throws KeeperException {
		node(parent);
		return names(parent);
	}

	/** Watches an existing node for its deletion, and for changes of its children. */
	List<String> children(String parent, Runnable changed) throws KeeperException {
		List<String> names = children(parent);
		this.childWatches.computeIfAbsent(parent, (watched) -> new ArrayList<>()).add(changed);
		return names;
	}

	private List<String> names(String parent) {
		return Stream.concat(this.containers.keySet().stream(), this.nodes.keySet().stream())
			.filter((path) -> parent(path).equals(parent))
			.map((path) -> path.substring(parent.length() + 1))
			.toList();
	}

	/** Watches an existing node for its deletion. */
	void watch(String path, Runnable changed) throws KeeperException {
		node(path);
		this.watches.computeIfAbsent(path, (watched) -> new ArrayList<>()).add(changed);
	}

	void unwatch(String path, Runnable changed) {
		List<Runnable> watching = this.watches.getOrDefault(path, new ArrayList<>());
		watching.remove(changed);
		if (watching.isEmpty()) {
			this.watches.remove(path);
		}
	}

	int watches() {
		return this.watches.size() + this.childWatches.size();
	}

	void endSession(long session) {
		this.zxid++;
		List<String> ended = new ArrayList<>();
		for (Iterator<Node> all = this.nodes.values().iterator(); all.hasNext();) {
			Node node = all.next();
			if (node.session() == session) {
				ended.add(node.path());
				all.remove();
			}
		}
		ended.forEach(this::fire);
	}

	/** Removes containers without children, as the server does from time to time. */
	void reap() {
		for (String path : List.copyOf(this.containers.keySet())) {
			if (names(path).isEmpty()) {
				this.containers.remove(path);
				fire(path);
			}
		}
	}

	List<String> paths() {
		return List.copyOf(this.nodes.keySet());
	}

	private void fire(String path) {
		fire(this.watches.remove(path));
		fire(this.childWatches.remove(path));
		fireParent(path);
	}

	private void fireParent(String path) {
		fire(this.childWatches.remove(parent(path)));
	}

	private static void fire(List<Runnable> watching) {
		if (watching != null) {
			watching.forEach(Runnable::run);
		}
	}

	private static String parent(String path) {
		return path.substring(0, path.lastIndexOf('/'));
	}

	private static final class Container {

		private final Node node;

		/** The number of children created so far. */
		private long created;

		Container(Node node) {
			this.node = node;
		}

	}

}
