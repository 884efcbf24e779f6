package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

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

	private final ClaimEnds ends;

	private final SchedulingClock clock;

	EtcdRenewals(EtcdCalls calls, QueueNodes queueNodes, ClaimEnds ends, SchedulingClock clock) {
		this.calls = calls;
		this.queueNodes = queueNodes;
		this.ends = ends;
		this.clock = clock;
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
			.revisions(queueNodes.stream().map((queueNode) -> queueNode.key.name()).toList());
		CompletableFuture<Long> term = revisions.thenApply(KeyRevisions::term);
		Map<EtcdLease, CompletableFuture<EtcdLease>> renewals = new IdentityHashMap<>();
		List<CompletableFuture<RenewResult>> answers = new ArrayList<>();
		for (Grant grant : grants) {
			QueueNode queueNode = this.queueNodes.of(grant);
			EtcdLease lease = (queueNode != null) ? queueNode.lease() : null;
			answers.add((queueNode == null || lease == null)
					? this.ends.withdrawOther(grant, new RenewResult.Refused(), RenewResult.Indeterminate::new)
					: renewals.computeIfAbsent(lease, (shared) -> shared.renewedWith(start, term))
						.thenCombine(revisions, (renewed, read) -> read.of(queueNode.key.name()) == grant.storeToken())
						.thenCompose((keyExists) -> keyExists
								? CompletableFuture.completedFuture(new RenewResult.Renewed(lease.lastsFrom(start)))
								: refused(grant, queueNode))
						.exceptionallyCompose((failure) -> notRenewed(grant, queueNode, failure)));
		}
		return Stages.all(answers);
	}

	private CompletableFuture<RenewResult> refused(Grant grant, QueueNode queueNode) {
		return this.ends.lost(queueNode, grant.storeToken()).thenApply((done) -> new RenewResult.Refused());
	}

	private CompletableFuture<RenewResult> notRenewed(Grant grant, QueueNode queueNode, Throwable failure) {
		return EtcdErrors.isLeaseGone(failure) ? refused(grant, queueNode) : CompletableFuture
			.completedFuture(new RenewResult.Indeterminate(EtcdErrors.unknown(failure, this.ends.keys().root())));
	}

}
