package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * All nodes and their right to vote.
 */
final class RedlockNodes {

	private final List<RedlockNode> all;

	private final RedlockLockOptions options;

	private final RedlockKeys keys;

	private final SchedulingClock clock;

	private final ReleaseNotifications notifications;

	private final QuarantineLog quarantineLog;

	/** Longest known lease, in milliseconds. */
	private final AtomicLong longestLease;

	RedlockNodes(List<NodeClient> nodes, RedlockLockOptions options, SchedulingClock clock) {
		this.options = options;
		this.clock = clock;
		this.quarantineLog = new QuarantineLog((nodes.size() - 1) / 2);
		this.keys = new RedlockKeys(options.namespace());
		this.notifications = new ReleaseNotifications(options, nodes.size() / 2 + 1, clock);
		this.all = nodes.stream()
			.map((node) -> new RedlockNode(node, this.keys, new Quarantine(node.address(), clock, this.quarantineLog),
					new NodeBacklog(clock, options.nodeTimeout()), this.notifications))
			.toList();
		this.longestLease = new AtomicLong(options.longestLease().toMillis());
	}

	List<RedlockNode> all() {
		return this.all;
	}

	int count() {
		return this.all.size();
	}

	int quorum() {
		return this.all.size() / 2 + 1;
	}

	/**
	 * Returns how many nodes may reject or not answer while the others are still a
	 * majority.
	 */
	int tolerated() {
		return count() - quorum();
	}

	SchedulingClock clock() {
		return this.clock;
	}

	RedlockKeys keys() {
		return this.keys;
	}

	ReleaseNotifications notifications() {
		return this.notifications;
	}

	/**
	 * Records that a claim waits after its next attempt, or no longer does.
	 * @return the claim as it waits, or {@code null} if it will not
	 */
	@Nullable WaitingClaim expectNotification(Claim claim) {
		if (!RedlockTimes.waits(claim)) {
			this.notifications.forget(claim.owner());
			return null;
		}
		this.all.forEach(RedlockNode::listen);
		return this.notifications.expect(claim);
	}

	/**
	 * Returns the signal for the demand of a sticky lease.
	 */
	CompletionStage<?> expectDemand(OwnerId owner) {
		this.all.forEach(RedlockNode::listen);
		return this.notifications.expectDemand(owner);
	}

	QuarantineLog quarantineLog() {
		return this.quarantineLog;
	}

	/** Records a requested lease, in milliseconds. */
	void noteLongestLease(long millis) {
		this.longestLease.accumulateAndGet(millis, Math::max);
	}

	/** Returns how long a node that lost its memory must not vote. */
	Duration quarantine() {
		long millis = this.longestLease.get();
		return Duration.ofMillis(millis + (long) Math.ceil(millis * ClockDrift.factor(this.options)))
			.plus(ClockDrift.MARGIN);
	}

	/** Asks all nodes. */
	<R> CompletableFuture<R> ask(Function<Votes, @Nullable R> decision,
			Function<RedlockNode, CompletionStage<List<Object>>> question) {
		return ask(this.options.nodeTimeout(), decision, question);
	}

	/** Asks all nodes, and awaits each for the node timeout or a shorter time. */
	<R> CompletableFuture<R> ask(Duration atMost, Function<Votes, @Nullable R> decision,
			Function<RedlockNode, CompletionStage<List<Object>>> question) {
		Duration nodeTimeout = this.options.nodeTimeout();
		return new QuorumCall<>(count(), this.clock, decision).ask(this.all,
				(atMost.compareTo(nodeTimeout) < 0) ? atMost : nodeTimeout, question);
	}

	/**
	 * Asks a node to vote. Prepends the two arguments that every voting script expects.
	 * If the node's quarantine has passed, this method admits the node and asks again.
	 * @param wanted whether the vote still counts
	 */
	CompletionStage<List<Object>> vote(RedlockNode node, BooleanSupplier wanted, RedisScript script, List<Object> keys,
			Object... args) {
		Object[] all = withMemory(args);
		return node.runIf(wanted, script, keys, all).thenCompose((answer) -> {
			if (!NodeResponse.isNoVote(answer)) {
				node.quarantine().voted();
				return CompletableFuture.completedStage(answer);
			}
			return admitIfOver(node, (String) answer.get(1))
				.thenCompose((admitted) -> (admitted && wanted.getAsBoolean()) ? node.run(script, keys, all)
						: CompletableFuture.completedStage(answer));
		});
	}

	/** Removes what a claim has on a node, on behalf of an operator, now or never. */
	CompletionStage<List<Object>> revoke(RedlockNode node, Claim claim) {
		return undo(node, claim, MissedRequests.EVERY_ATTEMPT, Duration.ZERO, true);
	}

	/** Removes everything that a claim has on a node, from any attempt. */
	CompletionStage<List<Object>> release(RedlockNode node, Claim claim) {
		if (!node.missed().mayHaveReceived(claim)) {
			return CompletableFuture.completedStage(NodeResponse.NOT_HELD);
		}
		return end(node, new MissedRequests.Ended(claim, MissedRequests.EVERY_ATTEMPT, 0));
	}

	/** Removes what the attempts of a claim that have ended have on a node. */
	private CompletionStage<List<Object>> end(RedlockNode node, MissedRequests.Ended ended) {
		MissedRequests.Ended all = node.missed().take(ended);
		return confirmed(node, all, undo(node, all.claim(), all.attempt(), Duration.ZERO, true));
	}

	/**
	 * Notes whether a node may keep a claim that has ended, or grant it late. A release
	 * that finds something has ended one of the attempts that it may have granted.
	 */
	private static CompletionStage<List<Object>> confirmed(RedlockNode node, MissedRequests.Ended ended,
			CompletionStage<List<Object>> release) {
		return release.whenComplete((answer, failure) -> {
			boolean found = failure == null && !answer.equals(NodeResponse.NOT_HELD);
			MissedRequests.Ended left = found ? ended.withLate(ended.late() - 1) : ended;
			// before the first connection, nothing of the claim was sent either
			if (node.isConnected() && (failure != null || left.late() > 0)) {
				node.missed().unconfirmed(left);
			}
			else {
				node.missed().confirmed(ended.claim());
			}
		});
	}

	/**
	 * Undoes an attempt of a claim on a node.
	 * @param response the response of the node to the attempt
	 * @param last whether neither another attempt nor a release of the claim follows
	 */
	void undo(NodeResponse response, Claim claim, long attempt, Duration position, boolean notify, boolean last) {
		RedlockNode node = response.node();
		boolean sent = response.isYes() || response.isMissing();
		MissedRequests.Ended ended = new MissedRequests.Ended(claim, attempt, 0);
		MissedRequests.Ended all = last ? node.missed().take(ended) : ended;
		CompletionStage<List<Object>> undone = undo(node, claim, attempt, position, notify);
		if (last && (sent || all.late() > 0)) {
			confirmed(node, all, undone);
		}
	}

	/**
	 * Notes what the response to an attempt says besides the vote.
	 * @param waiting the claim as it waits after this attempt, or {@code null}
	 */
	void note(NodeResponse response, Claim claim, @Nullable WaitingClaim waiting) {
		RedlockNode node = response.node();
		String runId = response.runId();
		// without the quarantine, it may vote at once with what it has kept on its disk
		if (runId != null && this.options.restartQuarantine()) {
			node.missed().answeredBy(runId);
		}
		if (response.isMissing()) {
			node.missed().unanswered(claim);
		}
		else if (response.isYes()) {
			node.missed().granted(claim);
			if (response.demands()) {
				this.notifications.demand(claim.owner());
			}
		}
		else if (response.isNo()) {
			if (waiting != null) {
				waiting.rejected(response);
			}
			node.missed().blocking(claim.lock(), response.blocker()).forEach((ended) -> end(node, ended.withLate(0)));
		}
	}

	/**
	 * Removes what a claim has on a node.
	 * @param attempt the last attempt to undo, or -1 for all
	 * @param position how long the claim keeps a position in the wait queue instead
	 * @param notify whether the node notifies the first waiter if the lock is free
	 */
	private CompletionStage<List<Object>> undo(RedlockNode node, Claim claim, long attempt, Duration position,
			boolean notify) {
		return node.run(RedlockScripts.RELEASE, this.keys.of(claim.lock()),
				withMemory(claim.owner().value(), attempt, claim.mode().name(), position.toMillis(),
						this.notifications.waited(claim.owner()).toMillis(), this.notifications.instance(),
						this.notifications.channels(), notify ? RedlockTimes.reservation(this.options).toMillis() : 0,
						RedlockTimes.IDLE_TOKEN_MILLIS));
	}

	/** Prepends the arguments of scripts that grant a lock. */
	private Object[] withMemory(Object... args) {
		return Stream
			.concat(Stream.of(RedlockKeys.random(), this.options.restartQuarantine() ? "1" : "0"), Stream.of(args))
			.toArray();
	}

	private CompletionStage<Boolean> admitIfOver(RedlockNode node, String memory) {
		if (!isOver(node, memory) || !node.quarantine().tryStartAdmission()) {
			return CompletableFuture.completedStage(false);
		}
		return Stages.attempt(() -> admit(node, memory)).handle((admitted, failure) -> {
			boolean done = failure == null && admitted;
			node.quarantine().end(done);
			return done;
		});
	}

	private boolean isOver(RedlockNode node, String memory) {
		return node.quarantine().remaining(memory, quarantine()).compareTo(Duration.ZERO) <= 0;
	}

	/**
	 * Admits a node after its quarantine. Longer leases that the other nodes know extend
	 * the quarantine. Their highest token raises the node's tokens above those it has
	 * lost.
	 */
	private CompletionStage<Boolean> admit(RedlockNode node, String memory) {
		List<RedlockNode> others = this.all.stream().filter((other) -> other != node).toList();
		return new QuorumCall<Votes>(others.size(), this.clock, Votes::ifComplete)
			.ask(others, this.options.nodeTimeout(),
					(other) -> other.run(RedlockScripts.LOOK, List.of(this.keys.node()), RedlockKeys.random()))
			.thenCompose((votes) -> {
				List<NodeResponse> known = votes.those((answer) -> answer.value() != null);
				known.forEach((answer) -> noteLongestLease(answer.number(1)));
				long highest = known.stream().mapToLong((answer) -> answer.number(2)).max().orElse(0);
				if (!isOver(node, memory)) {
					return CompletableFuture.completedStage(false);
				}
				return node
					.run(RedlockScripts.ADMIT, List.of(this.keys.node()), RedlockKeys.random(), memory,
							this.longestLease.get(), highest)
					.thenApply((answer) -> (Long) answer.get(0) == 1);
			});
	}

}
