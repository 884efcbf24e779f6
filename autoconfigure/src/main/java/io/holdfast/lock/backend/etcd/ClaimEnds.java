package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.Stages;

/**
 * Ends claims: releases, retains and withdraws them, and forgets those that are lost.
 *
 * @param queueNodes the claims and grants in this JVM
 * @param queue deletes their keys
 * @param keys the names of the keys
 */
record ClaimEnds(QueueNodes queueNodes, WaitQueue queue, EtcdKeys keys) {

	/** Releases a hold, or what an earlier attempt has created since it lost its key. */
	CompletionStage<ReleaseResult> release(Grant grant) {
		QueueNode queueNode = this.queueNodes.of(grant);
		if (queueNode == null) {
			return withdrawOther(grant, new ReleaseResult.NotHeld(), ReleaseResult.Indeterminate::new);
		}
		queueNode.release();
		return this.queue.release(queueNode, grant.storeToken()).handle((wasCurrent, failure) -> {
			if (failure != null) {
				Throwable cause = Stages.cause(failure);
				LockBackendException definite = EtcdErrors.definite(cause, grant.claim().lock(), this.keys.root());
				if (definite != null) {
					throw definite;
				}
				return new ReleaseResult.Indeterminate(cause);
			}
			this.queueNodes.end(queueNode);
			return wasCurrent ? new ReleaseResult.Released() : new ReleaseResult.NotHeld();
		});
	}

	/**
	 * Moves the key to a lease of its own, which outlives the session and this client.
	 */
	CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		QueueNode queueNode = this.queueNodes.of(grant);
		if (queueNode == null) {
			return CompletableFuture.completedFuture(false);
		}
		queueNode.release();
		return this.queue.retain(queueNode, grant.storeToken(), remaining).thenApply((kept) -> {
			this.queueNodes.end(queueNode, !kept);
			return kept;
		});
	}

	/**
	 * Withdraws a claim. etcd keeps nothing of one that is not in the memory of this JVM.
	 */
	CompletableFuture<Void> withdraw(Claim claim) {
		QueueNode queueNode = this.queueNodes.find(claim);
		return (queueNode != null) ? withdraw(queueNode) : CompletableFuture.completedFuture(null);
	}

	CompletableFuture<Void> withdraw(QueueNode queueNode) {
		return this.queueNodes.abandon(queueNode, () -> this.queue.leave(queueNode));
	}

	/**
	 * Withdraws the claim of a hold that has lost its key, if an earlier attempt has
	 * created another key meanwhile. The engine keeps the hold instead of the grant of
	 * that attempt.
	 * @param gone the result if nothing of the claim is left
	 * @param unknown returns the result if the claim may still have a key
	 */
	<T> CompletableFuture<T> withdrawOther(Grant grant, T gone, Function<Throwable, T> unknown) {
		return withdraw(grant.claim())
			.handle((done, failure) -> (failure == null) ? gone : unknown.apply(Stages.cause(failure)));
	}

	/**
	 * Forgets a hold whose key is gone, once the claim has no later key and no late
	 * request can create one.
	 * @param revision the revision that created the key of the hold
	 */
	CompletableFuture<Void> lost(QueueNode queueNode, long revision) {
		if (!queueNode.isLastKey(revision)) {
			return withdraw(queueNode);
		}
		this.queueNodes.end(queueNode);
		return CompletableFuture.completedFuture(null);
	}

	/** Forgets the holds of a session, and notifies its claims. */
	void sessionEnded(Session session) {
		this.queueNodes.all().forEach((queueNode) -> {
			// a granted claim does not change its session any more, but a waiting one may
			if (queueNode.isGranted() && queueNode.session() == session) {
				lost(queueNode, queueNode.revision());
			}
			queueNode.leaseEnded(session.lease());
		});
	}

}
