package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.Batches;
import io.holdfast.lock.support.Stages;

/**
 * Renews leases that a majority still has, many in one request to each node.
 */
final class RedlockRenewals {

	/** A script blocks its node while it runs. */
	private static final int MOST_AT_ONCE = 200;

	private final RedlockNodes nodes;

	private final RedlockLockOptions options;

	private final RedlockErrors errors;

	private final NotifiedTokens notified;

	RedlockRenewals(RedlockNodes nodes, RedlockLockOptions options, RedlockErrors errors, NotifiedTokens notified) {
		this.nodes = nodes;
		this.options = options;
		this.errors = errors;
		this.notified = notified;
	}

	CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return Stages.all(Batches.of(grants, MOST_AT_ONCE).stream().map(this::renewTogether).toList())
			.thenApply((results) -> results.stream().flatMap(List::stream).toList());
	}

	private CompletableFuture<List<RenewResult>> renewTogether(List<Grant> grants) {
		List<Object> keys = Stream
			.concat(Stream.<Object>of(this.nodes.keys().node()),
					grants.stream().map((grant) -> this.nodes.keys().part(grant.claim().lock(), grant.claim().mode())))
			.toList();
		Object[] args = grants.stream()
			.flatMap((grant) -> Stream.<Object>of(grant.claim().owner().value(),
					RedlockTimes.lease(grant.claim()).toMillis(), grant.claim().mode().name()))
			.toArray();
		// a lease that is kept for its minHold may be longer than any that was acquired
		grants.forEach((grant) -> this.nodes.noteLongestLease(RedlockTimes.lease(grant.claim()).toMillis()));
		long startedAt = this.nodes.clock().nanos();
		return this.nodes
			.ask((votes) -> results(grants, votes),
					(node) -> this.nodes.vote(node, () -> true, RedlockScripts.RENEW, keys, args))
			.whenComplete((results, failure) -> {
				for (int i = 0; results != null && i < results.size(); i++) {
					note(grants.get(i).claim(), startedAt, results.get(i));
				}
			});
	}

	private void note(Claim claim, long startedAt, RenewResult result) {
		if (result instanceof RenewResult.Renewed) {
			this.notified.extend(claim.owner(),
					startedAt + ClockDrift.validity(RedlockTimes.lease(claim), this.options));
		}
		else if (result instanceof RenewResult.Refused) {
			this.notified.remove(claim.owner());
			this.nodes.notifications().forgetAll(claim.owner());
		}
	}

	private @Nullable List<RenewResult> results(List<Grant> grants, Votes votes) {
		List<RenewResult> results = new ArrayList<>(grants.size());
		for (int i = 0; i < grants.size(); i++) {
			RenewResult result = result(grants.get(i), 1 + i, votes);
			if (result == null) {
				return null;
			}
			results.add(result);
		}
		for (int i = 0; i < grants.size(); i++) {
			if (results.get(i) instanceof RenewResult.Refused) {
				releaseAll(grants.get(i));
			}
		}
		return results;
	}

	private @Nullable RenewResult result(Grant grant, int index, Votes votes) {
		int renewed = votes.count((answer) -> answer.isYes() && answer.number(index) == 1);
		if (renewed >= this.nodes.quorum()) {
			return new RenewResult.Renewed(ClockDrift.trustedLease(RedlockTimes.lease(grant.claim()), this.options));
		}
		int gone = votes.count((answer) -> answer.isNoVote() || (answer.isYes() && answer.number(index) == 0));
		if (gone > this.nodes.tolerated()) {
			return new RenewResult.Refused();
		}
		if (votes.pending() > 0) {
			return null;
		}
		return new RenewResult.Indeterminate(
				this.errors.noMajority("could not be renewed", grant.claim().lock(), votes));
	}

	/**
	 * Releases the lock on all nodes. A minority that still has it would only block the
	 * next owner.
	 */
	private void releaseAll(Grant grant) {
		this.nodes.all().forEach((node) -> this.nodes.release(node, grant.claim()));
	}

}
