package io.holdfast.lock.backend.etcd;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;

/**
 * Registry of the queue nodes of all claims and grants in this JVM. A queue node stays
 * registered until nothing of it is left in the store.
 */
final class QueueNodes {

	private final Map<OwnerId, QueueNode> byOwner = new ConcurrentHashMap<>();

	private final KeyNames names;

	private final AtomicLong registered = new AtomicLong();

	QueueNodes(EtcdKeys keys) {
		this.names = new KeyNames(keys);
	}

	/** Returns the queue node of a claim, registering it if it is absent. */
	QueueNode of(Claim claim) {
		return this.byOwner.computeIfAbsent(claim.owner(), (owner) -> register(claim));
	}

	private QueueNode register(Claim claim) {
		return new QueueNode(new ClaimKey(claim, this.registered.incrementAndGet(), this.names));
	}

	/** Returns the queue node of a claim, or {@code null} if it is absent. */
	@Nullable QueueNode find(Claim claim) {
		return this.byOwner.get(claim.owner());
	}

	/** Returns the queue node of a grant, or {@code null} if its key is gone. */
	@Nullable QueueNode of(Grant grant) {
		QueueNode queueNode = find(grant.claim());
		return (queueNode != null && queueNode.revision() == grant.storeToken()) ? queueNode : null;
	}

	/** Removes a queue node of which nothing is left in the store. */
	void end(QueueNode queueNode) {
		end(queueNode, true);
	}

	/**
	 * Removes the queue node of a claim that has ended.
	 * @param free whether other claims may use the name of its key
	 */
	void end(QueueNode queueNode, boolean free) {
		queueNode.end();
		if (this.byOwner.remove(queueNode.claim.owner(), queueNode) && free) {
			queueNode.key.free();
		}
	}

	/**
	 * Ends a claim and deletes its key. The queue node stays registered until the
	 * deletion is confirmed, so that it is not used again.
	 */
	CompletableFuture<Void> abandon(QueueNode queueNode, Supplier<CompletableFuture<?>> delete) {
		queueNode.end();
		return delete.get().thenAccept((deleted) -> end(queueNode));
	}

	/** Returns the values of the keys of the claims and grants in memory. */
	List<String> remembered() {
		return all().stream().map((queueNode) -> queueNode.key.value()).toList();
	}

	List<QueueNode> all() {
		return List.copyOf(this.byOwner.values());
	}

}
