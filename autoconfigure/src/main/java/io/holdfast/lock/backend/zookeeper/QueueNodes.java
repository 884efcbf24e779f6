package io.holdfast.lock.backend.zookeeper;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;

/**
 * Registry of the queue nodes of all claims and grants in this JVM. A queue node stays
 * registered until nothing of it is left in the store.
 */
final class QueueNodes {

	private static final Pattern NOT_IN_A_PATH = Pattern.compile("[^A-Za-z0-9_-]");

	private final Map<OwnerId, QueueNode> byOwner = new ConcurrentHashMap<>();

	private final String namespace;

	private final String root;

	QueueNodes(String basePath, String namespace) {
		this.namespace = namespace;
		this.root = basePath + "/" + NOT_IN_A_PATH.matcher(namespace).replaceAll("_");
	}

	/** Returns the path below which all wait queues are created. */
	String root() {
		return this.root;
	}

	/**
	 * Returns the queue node of a claim, registering it if it is absent.
	 * @param interruptions the number of interruptions so far
	 */
	QueueNode of(Claim claim, int interruptions) {
		return this.byOwner.computeIfAbsent(claim.owner(),
				(owner) -> new QueueNode(claim, queue(claim.lock()), interruptions));
	}

	/** Returns a queue node for a claim of another client. */
	QueueNode unregistered(Claim claim) {
		return new QueueNode(claim, queue(claim.lock()), 0);
	}

	/** Returns the queue node of a claim, or {@code null} if nothing of it is left. */
	@Nullable QueueNode find(Claim claim) {
		return this.byOwner.get(claim.owner());
	}

	/** Returns the queue node of a grant, or {@code null} if its node is gone. */
	@Nullable QueueNode of(Grant grant) {
		QueueNode queueNode = this.byOwner.get(grant.claim().owner());
		return (queueNode != null && queueNode.czxid() == grant.storeToken()) ? queueNode : null;
	}

	/** Removes a queue node of which nothing is left in the store. */
	void end(QueueNode queueNode) {
		queueNode.end();
		this.byOwner.remove(queueNode.claim.owner(), queueNode);
	}

	/**
	 * Ends a claim and deletes its node. The queue node stays registered until the
	 * deletion is confirmed, so that it is not used again.
	 */
	CompletableFuture<Void> abandon(QueueNode queueNode, Supplier<CompletableFuture<Void>> delete) {
		return queueNode.abandon(delete).thenRun(() -> this.byOwner.remove(queueNode.claim.owner(), queueNode));
	}

	/**
	 * Revokes the queue nodes of a lost session. Their nodes are deleted, or will be
	 * before anything can rely on them.
	 */
	void sessionLost(long currentSession) {
		this.byOwner.values().removeIf((queueNode) -> queueNode.sessionLost(currentSession));
	}

	int size() {
		return this.byOwner.size();
	}

	/** Returns the path of the wait queue of a lock. */
	String queue(LockName lock) {
		return this.root + "/" + NOT_IN_A_PATH.matcher(lock.name()).replaceAll("_") + "-"
				+ LockDigest.of(this.namespace, lock);
	}

}
