package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

/**
 * One attempt of a claim at all nodes: collects votes, agrees on the token in a second
 * round if necessary, and releases discarded grants.
 *
 * <p>
 * Every attempt has a number, and a node keeps the number of the last one. A late request
 * that undoes an attempt therefore cannot affect the next attempt of the same owner.
 */
final class QuorumAcquisition {

	private final RedlockNodes nodes;

	private final RedlockLockOptions options;

	private final RedlockErrors errors;

	final Claim claim;

	final long number;

	private final Duration lease;

	private final long startedAt;

	private final NodeResponses responses;

	private final AttemptsUnderWay underWay;

	private final NotifiedTokens notified;

	/** The claim as it waits for a retry, or {@code null} if it will not. */
	private final @Nullable WaitingClaim waiting;

	private final DemandPaths demandPaths;

	/** The previous attempt if it is under way without a retry, but this one has one. */
	private final @Nullable QuorumAcquisition finalBefore;

	/** Whether the claim has made no other attempt that may have left something. */
	final boolean first;

	/** Completes when the attempt is over, so that later grants are discarded. */
	private final CompletableFuture<Void> over = new CompletableFuture<>();

	/** Whether the claim was released or withdrawn, and so no longer waits. */
	final AtomicBoolean ended;

	QuorumAcquisition(RedlockNodes nodes, RedlockLockOptions options, RedlockErrors errors, Claim claim, long number,
			NotifiedTokens notified, AttemptsUnderWay underWay) {
		QuorumAcquisition before = underWay.of(claim.owner());
		this.nodes = nodes;
		this.options = options;
		this.errors = errors;
		this.claim = claim;
		this.number = number;
		this.lease = RedlockTimes.lease(claim);
		this.responses = new NodeResponses(nodes.all());
		this.startedAt = nodes.clock().nanos();
		this.notified = notified;
		this.ended = (before != null) ? before.ended : new AtomicBoolean();
		this.underWay = underWay;
		this.first = before == null && !nodes.notifications().isWaiting(claim.owner());
		this.waiting = nodes.expectNotification(claim);
		this.finalBefore = (before != null && !RedlockTimes.waits(before.claim) && this.waiting != null) ? before
				: null;
		this.demandPaths = DemandPaths.of(claim, nodes);
	}

	CompletionStage<AcquireResult> run() {
		this.nodes.noteLongestLease(this.lease.toMillis());
		QuorumCall<Votes> call = new QuorumCall<>(this.nodes.count(), this.nodes.clock(), this::decide);
		return call
			.ask(this.nodes.all(), this.options.nodeTimeout(),
					(node) -> send(node, () -> !call.isDecided() && !isOver())
						.whenComplete((value, failure) -> answered(new NodeResponse(node, value, failure))))
			.thenCompose((votes) -> (votes.yes() >= this.nodes.quorum()) ? granted(votes) : refused(votes));
	}

	/** Sends the attempt to a node, after what it must not overtake. */
	private CompletionStage<List<Object>> send(RedlockNode node, BooleanSupplier wanted) {
		CompletionStage<?> before = before(node);
		if (before == null) {
			return vote(node, wanted);
		}
		return before.handle((response, failure) -> isOver()).thenCompose((tooLate) -> {
			if (tooLate) {
				throw new NotSentException("the attempt was over before the node answered the previous one");
			}
			return vote(node, wanted);
		});
	}

	/**
	 * Returns what the attempt follows on a node: the previous attempt if that had no
	 * retry, because its request would remove the position of the claim if it came late;
	 * or a release of another claim, but only while this attempt is wanted.
	 */
	private @Nullable CompletionStage<?> before(RedlockNode node) {
		if (this.finalBefore != null) {
			return this.finalBefore.response(node);
		}
		CompletionStage<?> release = node.lateRelease(this.claim.lock());
		return (release != null) ? CompletableFuture.anyOf(release.toCompletableFuture(), this.over) : null;
	}

	private CompletionStage<List<Object>> vote(RedlockNode node, BooleanSupplier wanted) {
		return this.nodes.vote(node, wanted, RedlockScripts.ACQUIRE, this.nodes.keys().of(this.claim.lock()),
				arguments(node));
	}

	private Object[] arguments(RedlockNode node) {
		ReleaseNotifications notifications = this.nodes.notifications();
		List<Object> arguments = new ArrayList<>(List.of(this.claim.owner().value(), this.lease.toMillis(), this.number,
				RedlockTimes.IDLE_TOKEN_MILLIS, this.claim.mode().name(), position().toMillis(),
				notifications.waited(this.claim.owner()).toMillis(), notifications.instance(),
				RedlockTimes.kept(this.claim, this.options).toMillis()));
		if (this.demandPaths.nodes().contains(node)) {
			arguments.add(notifications.channels() + notifications.instance());
		}
		return arguments.toArray();
	}

	private void answered(NodeResponse response) {
		this.nodes.note(response, this.claim, this.waiting);
		this.underWay.note(this, response);
		if (this.responses.add(response)) {
			this.underWay.answered(this.claim.owner());
		}
	}

	/**
	 * Returns the response of a node. A request that ends this attempt must follow it,
	 * because requests to a node can overtake each other.
	 */
	CompletableFuture<NodeResponse> response(RedlockNode node) {
		return this.responses.of(node);
	}

	/**
	 * Decides when a majority has granted the claim or no longer can. In the second case
	 * it waits while pending responses can show the reason: other owners or missing
	 * responses.
	 */
	@Nullable Votes decide(Votes votes) {
		boolean enough = votes.yes() >= this.nodes.quorum();
		boolean hopeless = votes.yes() + votes.pending() < this.nodes.quorum();
		boolean clear = votes.isContended(votes.no(), this.nodes)
				|| !votes.isContended(votes.no() + votes.pending(), this.nodes);
		return (enough || (hopeless && clear)) ? votes : null;
	}

	/** Whether later grants are discarded, so that further requests are unnecessary. */
	boolean isOver() {
		return this.over.isDone();
	}

	/** Ends the attempt because the claim was released or withdrawn. */
	void end() {
		this.over.complete(null);
		this.ended.set(true);
	}

	/** Returns how long the claim keeps its position on a node that did not grant it. */
	private Duration position() {
		return this.ended.get() ? Duration.ZERO : RedlockTimes.position(this.claim, this.options);
	}

	private CompletionStage<AcquireResult> granted(Votes votes) {
		List<NodeResponse> grants = votes.those(NodeResponse::isYes);
		grants.forEach((answer) -> this.nodes.noteLongestLease(answer.number(2)));
		OptionalLong before = this.notified.find(this.claim.owner());
		if (before.isPresent() && votes.isUnbroken(this.nodes)) {
			return CompletableFuture.completedStage(heldIfInTime(before.getAsLong()));
		}
		TokenAgreement agreement = TokenAgreement.of(grants.stream().map((answer) -> answer.number(1)).toList(),
				this.nodes.quorum());
		return (agreement.agreed() || !isInTime()) ? CompletableFuture.completedStage(heldIfInTime(agreement.token()))
				: new TokenRounds(this.nodes, this).write(agreement.token()).thenApply(this::written);
	}

	private AcquireResult written(TokenRounds.Round round) {
		return (round.votes().yes() >= this.nodes.quorum()) ? heldIfInTime(round.token()) : discarded(true,
				this.errors.noMajority("was granted without an agreed token", this.claim.lock(), round.votes()));
	}

	private AcquireResult heldIfInTime(long token) {
		if (isInTime()) {
			this.notified.put(this.claim.owner(), token,
					this.startedAt + ClockDrift.validity(this.lease, this.options));
			this.nodes.notifications().forget(this.claim.owner());
			Grant grant = new Grant(this.claim, token, ClockDrift.trustedLease(this.lease, this.options));
			return new AcquireResult.Acquired(
					this.demandPaths.withDemand(grant, this.responses.present(), this.nodes.quorum()));
		}
		return discarded(true,
				this.errors.tooSlow(this.claim.lock(), this.lease, this.nodes.clock().nanos() - this.startedAt));
	}

	boolean isInTime() {
		return this.nodes.clock().nanos() - this.startedAt < ClockDrift.validity(this.lease, this.options);
	}

	private AcquireResult discarded(boolean notify, LockBackendException cause) {
		undo(notify, false);
		return new AcquireResult.Indeterminate(cause);
	}

	private CompletionStage<AcquireResult> refused(Votes votes) {
		if (votes.isContended(votes.no(), this.nodes)) {
			boolean demanded = votes.count((answer) -> answer.isNo() && answer.demands()) > 0;
			undo(votes.isSplit(this.nodes), this.waiting == null && !demanded);
			if (this.waiting == null) {
				this.nodes.notifications().forgetAll(this.claim.owner());
			}
			return CompletableFuture.completedStage(contended(votes, demanded));
		}
		LockBackendException cause = this.errors.noMajority("could not be acquired", this.claim.lock(), votes);
		if (!this.errors.isDefinite(votes)) {
			return CompletableFuture.completedStage(discarded(false, cause));
		}
		if (this.nodes.notifications().forgetFailed(this.claim.owner(), this.waiting)) {
			end();
		}
		// the engine does not withdraw a claim whose first attempt failed definitely
		undo(false, this.first);
		return CompletableFuture.failedStage(cause);
	}

	private AcquireResult contended(Votes votes, boolean demanded) {
		if (demanded) {
			this.nodes.notifications().noteFree(this.claim.owner(), votes.those(NodeResponse::isYes));
		}
		Duration retryAfter = RedlockTimes.retryAfter(this.nodes, votes);
		return (this.waiting != null) ? new AcquireResult.Contended(this.waiting.signal(), retryAfter, demanded)
				: AcquireResult.Contended.polled(retryAfter, demanded);
	}

	/**
	 * Undoes every grant of this claim, of this or an earlier attempt. A node that
	 * rejected the claim keeps its position while the claim waits.
	 * @param notify whether the nodes notify their first waiters, which need a majority
	 * @param last whether neither another attempt nor a release of the claim follows
	 */
	private void undo(boolean notify, boolean last) {
		this.over.complete(null);
		this.notified.remove(this.claim.owner());
		this.nodes.all().forEach((node) -> response(node).thenAccept((response) -> undo(response, notify, last)));
		if (last && !this.first) {
			// an earlier attempt finds the claim ended, or has failed before
			this.ended.set(true);
			this.nodes.all().forEach((node) -> node.missed().ended(this.claim, this.number));
		}
	}

	private void undo(NodeResponse response, boolean notify, boolean last) {
		boolean granted = !response.isNo() && !response.isNoVote() && !(this.first && response.isNotSent());
		if (granted || this.ended.get()) {
			this.nodes.undo(response, this.claim, this.number, position(), notify, last);
		}
		else if (last && this.first) {
			response.node().missed().ended(this.claim, this.number);
		}
	}

}
