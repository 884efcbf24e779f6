package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Turns the position of a claim in its wait queue into the result of an attempt.
 *
 * @param calls sends the requests
 * @param clock the source of time
 * @param withdraw ends a claim and deletes its key
 */
record ClaimResults(EtcdCalls calls, SchedulingClock clock, Function<QueueNode, CompletableFuture<Void>> withdraw) {

	/** Longest wait without a signal: a safety net for the watch. */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	/**
	 * Returns the result for a position.
	 * @param sentAt the time before the attempt was sent
	 */
	CompletionStage<AcquireResult> of(QueueNode queueNode, Claim claim, QueuePosition position, long sentAt) {
		String before = position.before();
		return (before != null) ? contended(queueNode, claim, before, position.seenAt())
				: granted(queueNode, claim, position, sentAt);
	}

	private CompletionStage<AcquireResult> granted(QueueNode queueNode, Claim claim, QueuePosition position,
			long sentAt) {
		long revision = position.revision();
		EtcdLease lease = queueNode.lease();
		if (lease == null || !queueNode.grant()) {
			return CompletableFuture.failedFuture(new EtcdCalls.KeyGoneException(revision));
		}
		Duration left = lease.lastsFrom(sentAt);
		Grant grant = claim.renew() ? new Grant(claim, revision, left, queueNode.revoked())
				: new Grant(claim, revision, left);
		return CompletableFuture.completedFuture(new Acquired(grant));
	}

	private CompletionStage<AcquireResult> contended(QueueNode queueNode, Claim claim, String before, long seenAt) {
		if (claim.remainingWait().isZero()) {
			return this.withdraw.apply(queueNode).thenApply((done) -> Contended.polled(LONGEST_WAIT));
		}
		EtcdLease lease = queueNode.lease();
		if (lease != null && !claim.renew()) {
			queueNode.renewWhileWaiting(lease, this.clock);
		}
		return CompletableFuture.completedFuture(
				new Contended(queueNode.waitFor(before, () -> KeyWatch.on(this.calls, before, seenAt)), LONGEST_WAIT));
	}

}
