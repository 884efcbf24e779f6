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
 * The places of all claims and grants of this JVM. A place is kept until nothing of it is
 * left in the store.
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

	/** The node below which all lines are. */
	String root() {
		return this.root;
	}

	/**
	 * The place of a claim, new if there is none.
	 * @param interruptions how many there have been
	 */
	QueueNode of(Claim claim, int interruptions) {
		return this.byOwner.computeIfAbsent(claim.owner(),
				(owner) -> new QueueNode(claim, queue(claim.lock()), interruptions));
	}

	/** The place whose node was granted so, or {@code null} if that is gone. */
	@Nullable QueueNode of(Grant grant) {
		QueueNode queueNode = this.byOwner.get(grant.claim().owner());
		return (queueNode != null && queueNode.czxid() == grant.storeToken()) ? queueNode : null;
	}

	/** Nothing of the place is left in the store. */
	void end(QueueNode queueNode) {
		queueNode.end();
		this.byOwner.remove(queueNode.claim.owner(), queueNode);
	}

	/**
	 * Deletes what a place has made. It is remembered until that is certain, so that it
	 * is not taken again.
	 */
	CompletableFuture<Void> abandon(QueueNode queueNode, Supplier<CompletableFuture<Void>> delete) {
		return queueNode.abandon(delete).thenRun(() -> this.byOwner.remove(queueNode.claim.owner(), queueNode));
	}

	/**
	 * With the session all its nodes are gone, or will be before anybody can rely on
	 * them.
	 */
	void sessionLost(long currentSession) {
		this.byOwner.values().removeIf((queueNode) -> queueNode.sessionLost(currentSession));
	}

	int size() {
		return this.byOwner.size();
	}

	private String queue(LockName lock) {
		return this.root + "/" + NOT_IN_A_PATH.matcher(lock.name()).replaceAll("_") + "-"
				+ LockDigest.of(this.namespace, lock);
	}

}
