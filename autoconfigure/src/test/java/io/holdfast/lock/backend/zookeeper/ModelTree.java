package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.zookeeper.KeeperException;

import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Node;

/**
 * The nodes of a model of ZooKeeper: what one server knows. Containers are made with
 * their first child, and numbers count within their parent.
 */
final class ModelTree {

	private final Map<String, Node> nodes = new TreeMap<>();

	/** The number of the next child of each container. */
	private final Map<String, Long> containers = new HashMap<>();

	private final Map<String, List<Runnable>> watches = new HashMap<>();

	private long zxid;

	/** Creates an ephemeral sequential node. */
	Node create(String prefix, long session) {
		String parent = parent(prefix);
		long number = this.containers.merge(parent, 1L, Long::sum) - 1;
		Node node = new Node("%s%010d".formatted(prefix, number), session, ++this.zxid);
		this.nodes.put(node.path(), node);
		return node;
	}

	Node node(String path) throws KeeperException {
		Node node = this.nodes.get(path);
		if (node == null) {
			throw new KeeperException.NoNodeException(path);
		}
		return node;
	}

	/** Passes if a node or a container exists. */
	void check(String path) throws KeeperException {
		if (!this.containers.containsKey(path)) {
			node(path);
		}
	}

	void delete(String path) throws KeeperException {
		node(path);
		this.zxid++;
		this.nodes.remove(path);
		fire(path);
	}

	List<String> children(String parent) throws KeeperException {
		if (!this.containers.containsKey(parent)) {
			throw new KeeperException.NoNodeException(parent);
		}
		return this.nodes.keySet()
			.stream()
			.filter((path) -> parent(path).equals(parent))
			.map((path) -> path.substring(parent.length() + 1))
			.toList();
	}

	/** Watches a node that exists for its deletion. */
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
		return this.watches.size();
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
		this.containers.keySet()
			.removeIf((container) -> this.nodes.keySet().stream().noneMatch((path) -> parent(path).equals(container)));
	}

	List<String> paths() {
		return List.copyOf(this.nodes.keySet());
	}

	private void fire(String path) {
		List<Runnable> watching = this.watches.remove(path);
		if (watching != null) {
			watching.forEach(Runnable::run);
		}
	}

	private static String parent(String path) {
		return path.substring(0, path.lastIndexOf('/'));
	}

}
