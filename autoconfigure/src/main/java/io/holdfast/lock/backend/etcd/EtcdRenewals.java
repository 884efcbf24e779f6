package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.Batches;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Renews the leases of grants, each lease once.
 */
final class EtcdRenewals {

	private final EtcdCalls calls;

	private final QueueNodes queueNodes;

	private final SchedulingClock clock;

	private final Function<QueueNode, CompletableFuture<Void>> lost;

	private final Function<QueueNode, CompletableFuture<Void>> withdraw;

	/**
	 * Creates the renewals of one backend.
	 * @param lost forgets a hold whose key is gone
	 * @param withdraw ends a claim and deletes its key
	 */
	EtcdRenewals(EtcdCalls calls, QueueNodes queueNodes, SchedulingClock clock,
			Function<QueueNode, CompletableFuture<Void>> lost, Function<QueueNode, CompletableFuture<Void>> withdraw) {
		this.calls = calls;
		this.queueNodes = queueNodes;
		this.clock = clock;
		this.lost = lost;
		this.withdraw = withdraw;
	}

	/** Renews grants, as many in one round trip as fit into a transaction. */
	CompletableFuture<List<RenewResult>> renew(List<Grant> grants) {
		return Stages.all(Batches.of(grants, EtcdCalls.OPERATIONS).stream().map(this::renewBatch).toList())
			.thenApply((results) -> results.stream().flatMap(List::stream).toList());
	}

	/**
	 * Renews the leases and reads the keys at the same time: etcd has been seen to renew
	 * a lease whose keys were already gone. The same read confirms the leader.
	 */
	private CompletableFuture<List<RenewResult>> renewBatch(List<Grant> grants) {
		long start = this.clock.nanos();
		List<QueueNode> queueNodes = grants.stream().map(this.queueNodes::of).filter(Objects::nonNull).toList();
		CompletableFuture<KeyRevisions> revisions = this.calls
			.revisions(queueNodes.stream().map(QueueNode::key).toList());
		CompletableFuture<Long> term = revisions.thenApply(KeyRevisions::term);
		Map<EtcdLease, CompletableFuture<EtcdLease>> renewals = new IdentityHashMap<>();
		List<CompletableFuture<RenewResult>> answers = new ArrayList<>();
		for (Grant grant : grants) {
			QueueNode queueNode = this.queueNodes.of(grant);
			EtcdLease lease = (queueNode != null) ? queueNode.lease() : null;
			answers.add((queueNode == null || lease == null)
					? withdrawOther(grant, new RenewResult.Refused(), RenewResult.Indeterminate::new)
					: renewals.computeIfAbsent(lease, (shared) -> shared.renewedWith(start, term))
						.thenCombine(revisions, (renewed, read) -> read.of(queueNode.key()) == grant.storeToken())
						.thenCompose((keyExists) -> renewed(queueNode, keyExists, lease, start))
						.exceptionallyCompose((failure) -> notRenewed(queueNode, failure)));
		}
		return Stages.all(answers);
	}

	/**
	 * Withdraws the claim of a hold that has lost its key, if an earlier attempt has
	 * created another key meanwhile. The engine keeps the hold instead of the grant of
	 * that attempt.
	 * @param gone the result if nothing of the claim is left
	 * @param unknown returns the result if the claim may still have a key
	 */
	<T> CompletableFuture<T> withdrawOther(Grant grant, T gone, Function<Throwable, T> unknown) {
		QueueNode other = this.queueNodes.find(grant.claim());
		return (other == null) ? CompletableFuture.completedFuture(gone) : this.withdraw.apply(other)
			.handle((done, failure) -> (failure == null) ? gone : unknown.apply(Stages.cause(failure)));
	}

	private CompletableFuture<RenewResult> renewed(QueueNode queueNode, boolean keyExists, EtcdLease lease,
			long start) {
		return keyExists ? CompletableFuture.completedFuture(new RenewResult.Renewed(lease.lastsFrom(start)))
				: this.lost.apply(queueNode).thenApply((done) -> new RenewResult.Refused());
	}

	private CompletableFuture<RenewResult> notRenewed(QueueNode queueNode, Throwable failure) {
		return EtcdErrors.isLeaseGone(failure)
				? this.lost.apply(queueNode).thenApply((done) -> new RenewResult.Refused())
				: CompletableFuture.completedFuture(new RenewResult.Indeterminate(Stages.cause(failure)));
	}

}
