package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Turns the position of a claim in its wait queue into the result of an attempt.
 *
 * @param calls sends the requests
 * @param keys the names of the keys
 * @param clock the source of time
 * @param watches limits the watches for demands of sticky leases
 * @param withdraw ends a claim and deletes its key
 * @param lost forgets a hold whose key is gone
 */
record ClaimResults(EtcdCalls calls, EtcdKeys keys, SchedulingClock clock, Semaphore watches,
		Function<QueueNode, CompletableFuture<Void>> withdraw,
		BiFunction<QueueNode, Long, CompletableFuture<Void>> lost) {

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
		if (lease == null || !queueNode.grant(revision)) {
			return CompletableFuture.failedFuture(new EtcdCalls.KeyGoneException(revision));
		}
		Duration left = lease.lastsFrom(sentAt);
		Grant grant = claim.renew() ? new Grant(claim, revision, left, queueNode.revoked())
				: new Grant(claim, revision, left);
		CompletionStage<?> wanted = EtcdKeys.isSticky(queueNode.key.name()) ? wanted(queueNode, position, lease) : null;
		return CompletableFuture.completedFuture(new Acquired((wanted != null) ? grant.withDemand(wanted) : grant));
	}

	/**
	 * Returns the signal for the demand of a sticky lease, which other claims may wait
	 * for already, or {@code null} if the limit of watches is reached.
	 */
	private @Nullable CompletionStage<?> wanted(QueueNode queueNode, QueuePosition position, EtcdLease lease) {
		return position.wanted() ? CompletableFuture.completedStage(null) : queueNode.demand()
			.signal(position.revision(), () -> this.watches.tryAcquire() ? watch(queueNode, position, lease) : null);
	}

	private DemandWatch watch(QueueNode queueNode, QueuePosition position, EtcdLease lease) {
		String queue = this.keys.queue(queueNode.claim.lock());
		DemandWatch watch = DemandWatch.on(this.calls, queue, queueNode.key.name(), position, () -> {
			if (queueNode.revision() == position.revision()) {
				forget(queueNode, position.revision());
				queueNode.leaseEnded(lease);
			}
		});
		watch.over().thenRun(this.watches::release);
		return watch;
	}

	/**
	 * Forgets a hold whose key is gone. Repeats the requests that this may need until
	 * etcd confirms them: the engine sends none for a hold that it knows is lost.
	 */
	private void forget(QueueNode queueNode, long revision) {
		this.lost.apply(queueNode, revision).whenComplete((done, failure) -> {
			if (failure != null) {
				this.clock.after(Session.RETRY_NANOS, () -> forget(queueNode, revision));
			}
		});
	}

	/**
	 * A claim that meets the key of a sticky lease has demanded it by entering the queue.
	 */
	private CompletionStage<AcquireResult> contended(QueueNode queueNode, Claim claim, String before, long seenAt) {
		boolean demanded = EtcdKeys.isSticky(before);
		if (claim.remainingWait().isZero()) {
			return this.withdraw.apply(queueNode)
				.<AcquireResult>thenApply((done) -> Contended.polled(LONGEST_WAIT, demanded))
				// the engine withdraws a claim again that may still be there
				.exceptionally((failure) -> new AcquireResult.Indeterminate(Stages.cause(failure)));
		}
		EtcdLease lease = queueNode.lease();
		if (lease != null && !claim.renew()) {
			queueNode.renewWhileWaiting(lease, this.clock);
		}
		return CompletableFuture.completedFuture(new Contended(
				queueNode.waitFor(before, seenAt, () -> KeyWatch.on(this.calls, this.clock, before, seenAt)),
				LONGEST_WAIT, demanded));
	}

}
