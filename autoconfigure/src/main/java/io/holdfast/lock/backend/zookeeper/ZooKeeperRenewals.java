package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Renews and confirms holds by checking their nodes with the leader.
 */
final class ZooKeeperRenewals {

	private static final long PAUSE_MILLIS = 100;

	private final ProvingCalls calls;

	private final QueueNodes queueNodes;

	private final Suspension suspension;

	private final SchedulingClock clock;

	ZooKeeperRenewals(ProvingCalls calls, QueueNodes queueNodes, Suspension suspension, SchedulingClock clock) {
		this.calls = calls;
		this.queueNodes = queueNodes;
		this.suspension = suspension;
		this.clock = clock;
	}

	CompletableFuture<List<RenewResult>> renew(List<Grant> grants) {
		return Stages.all(grants.stream().map(this::renew).toList());
	}

	/**
	 * Asks the leader about the node of a claim that is granted without it. The claim has
	 * lost the lock if the node is gone.
	 */
	void confirmFirst(QueueNode queueNode) {
		String path = queueNode.path(this.calls.session());
		// a claim that knows that its node is gone creates another
		if (path != null) {
			renew(queueNode).thenAccept((answer) -> {
				if (answer instanceof RenewResult.Refused) {
					queueNode.forget(path);
				}
			});
		}
	}

	private CompletableFuture<RenewResult> renew(Grant grant) {
		QueueNode queueNode = this.queueNodes.of(grant);
		return (queueNode != null) ? renew(queueNode) : CompletableFuture.completedFuture(new RenewResult.Refused());
	}

	private CompletableFuture<RenewResult> renew(QueueNode queueNode) {
		long session = this.calls.session();
		if (session == ZooKeeperCalls.UNKNOWN_SESSION) {
			return CompletableFuture.completedFuture(unknown("The client is not connected"));
		}
		String path = queueNode.path(session);
		if (path == null) {
			return CompletableFuture
				.completedFuture(refused(queueNode, queueNode.endWithout((node) -> node.session() != session)));
		}
		int interruptions = this.suspension.count();
		long sentAt = this.clock.nanos();
		return this.calls.check(path).handle((checked, failure) -> {
			if (failure != null) {
				return ZooKeeperCalls.isGone(failure)
						? refused(queueNode, queueNode.endWithout((node) -> node.path().equals(path)))
						: new RenewResult.Indeterminate(Stages.cause(failure));
			}
			if (this.calls.session() != session) {
				return unknown("The session has changed");
			}
			queueNode.confirmed(interruptions);
			Duration lease = this.calls.remainingSession(session, sentAt);
			return (lease != null) ? new RenewResult.Renewed(lease)
					: unknown("The session's validity is not proven yet");
		});
	}

	private static RenewResult unknown(String why) {
		return new RenewResult.Indeterminate(new IllegalStateException(why));
	}

	/**
	 * Ends a hold whose node is gone. The holder is notified and sends no more requests
	 * for it. The claim may have been granted again meanwhile, with another node.
	 */
	private RenewResult refused(QueueNode queueNode, boolean ends) {
		if (ends) {
			this.queueNodes.end(queueNode);
		}
		return new RenewResult.Refused();
	}

	/** Implements {@link LockBackend#confirm}. */
	CompletionStage<Boolean> confirm(Grant grant) {
		QueueNode queueNode = this.queueNodes.of(grant);
		if (queueNode == null) {
			return CompletableFuture.completedFuture(false);
		}
		if (queueNode.confirmedSince(this.suspension.count())
				&& this.calls.session() != ZooKeeperCalls.UNKNOWN_SESSION) {
			return LockBackend.CERTAIN;
		}
		return this.suspension.over()
			.thenCompose((back) -> renew(grant))
			.thenCompose((answer) -> (answer instanceof RenewResult.Indeterminate) ? confirmLater(grant)
					: CompletableFuture.completedFuture(answer instanceof RenewResult.Renewed));
	}

	private CompletionStage<Boolean> confirmLater(Grant grant) {
		CompletableFuture<Void> pause = new CompletableFuture<>();
		this.clock.after(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> pause.complete(null));
		return pause.thenCompose((over) -> confirm(grant));
	}

}
