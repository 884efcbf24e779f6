package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Makes the attempts of claims, and withdraws claims.
 */
final class ZooKeeperClaims {

	/**
	 * Longest wait without a signal. This is a safety net, because a watch is lost only
	 * with its session.
	 */
	static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private final ProvingCalls calls;

	private final QueueNodes queueNodes;

	private final WaitQueue queue;

	private final Suspension suspension;

	private final SchedulingClock clock;

	private final PredecessorWatch predecessorWatch;

	ZooKeeperClaims(ProvingCalls calls, QueueNodes queueNodes, WaitQueue queue, Suspension suspension,
			ZooKeeperRenewals renewals, SchedulingClock clock) {
		this.calls = calls;
		this.queueNodes = queueNodes;
		this.queue = queue;
		this.suspension = suspension;
		this.clock = clock;
		this.predecessorWatch = new PredecessorWatch(calls, renewals::confirmFirst);
	}

	/** Makes one attempt. */
	CompletionStage<AcquireResult> send(Claim claim) {
		if (this.calls.session() == ZooKeeperCalls.UNKNOWN_SESSION) {
			return unknown("The client is not connected");
		}
		QueueNode queueNode = this.queueNodes.of(claim, this.suspension.count());
		if (queueNode.isEnded()) {
			return unknown("The claim was abandoned");
		}
		int attempt = queueNode.nextAttempt();
		long sentAt = this.clock.nanos();
		if (queueNode.takeUnblocked(this.calls.session()) && queueNode.confirmedSince(this.suspension.count())
				&& this.calls.isSessionFresh()) {
			// the leader is asked meanwhile whether someone has deleted the node
			return granted(queueNode, claim, sentAt);
		}
		return this.queue.enqueue(queueNode)
			.thenCompose((queue) -> answer(queueNode, claim, queue, sentAt))
			.exceptionallyCompose((failure) -> failed(queueNode, attempt, failure));
	}

	/**
	 * Returns the result of an attempt that failed. A definite error leaves nothing,
	 * because the engine does not withdraw such a claim. If that fails, too, the engine
	 * must. A later attempt may wait or have been granted the lock meanwhile. The engine
	 * withdraws its claim.
	 */
	private CompletionStage<AcquireResult> failed(QueueNode queueNode, int attempt, Throwable failure) {
		LockBackendException definite = ZooKeeperErrors.definite(failure, queueNode.claim.lock(),
				this.queueNodes.root());
		if (definite == null) {
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(Stages.cause(failure)));
		}
		if (!queueNode.endUnlessGranted(attempt)) {
			return CompletableFuture.failedFuture(definite);
		}
		return withdraw(queueNode,
				() -> this.queue.leave(queueNode, (denial) -> CompletableFuture.completedFuture(null)))
			.handle((left, unknown) -> unknown)
			.thenCompose((unknown) -> (unknown == null) ? CompletableFuture.failedFuture(definite)
					: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(definite)));
	}

	private CompletionStage<AcquireResult> answer(QueueNode queueNode, Claim claim, List<QueueNodeName> queue,
			long sentAt) {
		String path = queueNode.path(this.calls.session());
		QueueNodeName own = queue.stream()
			.filter((other) -> path != null && path.endsWith("/" + other.name()))
			.findFirst()
			.orElse(null);
		if (own == null) {
			return unknown("The claim's node is missing or from an older session");
		}
		if (own.isBeyondLimit()) {
			return CompletableFuture.failedFuture(ZooKeeperErrors.numbersUsedUp(claim.lock()));
		}
		return this.queue.withoutDuplicates(queueNode, queue, own).thenCompose((single) -> {
			List<QueueNodeName> blockers = own.blockers(single);
			// the first node of the wait queue is that of a holder
			return blockers.isEmpty() ? granted(queueNode, claim, sentAt)
					: contended(queueNode, claim, own, blockers, single.get(0).sticky());
		});
	}

	private CompletionStage<AcquireResult> granted(QueueNode queueNode, Claim claim, long sentAt) {
		this.predecessorWatch.stop(queueNode);
		CompletionStage<Void> revoked = queueNode.revoked();
		ZooKeeperCalls.Node node = queueNode.node();
		if (node == null || node.czxid() == 0) {
			return unknown("The session of the claim ended");
		}
		Duration lease = this.calls.remainingSession(node.session(), sentAt);
		if (lease == null) {
			return unknown(ZooKeeperErrors.sessionNotProven());
		}
		if (!claim.renew() && claim.leaseTime().compareTo(lease) < 0) {
			lease = claim.leaseTime();
		}
		if (!queueNode.grant()) {
			return unknown("The claim was abandoned");
		}
		Grant grant = new Grant(claim, node.czxid(), lease, revoked);
		return CompletableFuture.completedFuture(
				new AcquireResult.Acquired(claim.sticky() ? grant.withDemand(this.queue.wanted(queueNode)) : grant));
	}

	private static CompletionStage<AcquireResult> unknown(String why) {
		return unknown(new IllegalStateException(why));
	}

	private static CompletionStage<AcquireResult> unknown(Exception why) {
		return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(why));
	}

	private CompletionStage<AcquireResult> contended(QueueNode queueNode, Claim claim, QueueNodeName own,
			List<QueueNodeName> blockers, boolean demanded) {
		if (claim.remainingWait().isZero()) {
			return withdraw(queueNode, () -> this.queue.leave(queueNode, own))
				.thenApply((done) -> AcquireResult.Contended.polled(LONGEST_WAIT, demanded));
		}
		return CompletableFuture.completedFuture(new AcquireResult.Contended(
				this.predecessorWatch.watch(queueNode, own, blockers), LONGEST_WAIT, demanded));
	}

	/** Withdraws a claim of this client. Nothing is left of one that was never sent. */
	CompletionStage<Void> abandon(Claim claim) {
		return (this.queueNodes.find(claim) != null) ? delete(claim) : CompletableFuture.completedFuture(null);
	}

	/** Deletes the nodes of a claim, which may be that of another client. */
	CompletionStage<Void> delete(Claim claim) {
		QueueNode known = this.queueNodes.find(claim);
		QueueNode queueNode = (known != null) ? known : this.queueNodes.unregistered(claim);
		// another node may be left, so the engine tries again
		return withdraw(queueNode, () -> this.queue.leave(queueNode, CompletableFuture::failedFuture))
			.exceptionallyCompose((failure) -> CompletableFuture
				.failedFuture(ZooKeeperErrors.definiteOrCause(failure, claim.lock(), this.queueNodes.root())));
	}

	private CompletableFuture<Void> withdraw(QueueNode queueNode, Supplier<CompletableFuture<Void>> delete) {
		CompletableFuture<Void> ended = this.queueNodes.abandon(queueNode, delete);
		this.predecessorWatch.stop(queueNode);
		return ended;
	}

}
