package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;

/**
 * Answers the questions of operators about locks on all nodes, and about the nodes.
 *
 * @param nodes the nodes
 * @param options how locks are kept
 * @param errors explains why there is no majority
 */
record RedlockLookup(RedlockNodes nodes, RedlockLockOptions options, RedlockErrors errors) {

	/** The elements of each grant in the answer of the script. */
	private static final int PER_GRANT = 4;

	private static final int FIRST_GRANT = 2;

	/** Asks all nodes. Only an owner that a majority has granted the lock holds it. */
	CompletionStage<LockState> find(LockName lock) {
		return this.nodes.ask(Votes::ifComplete, (node) -> node.run(RedlockScripts.FIND, this.nodes.keys().parts(lock)))
			.thenApply((votes) -> {
				if (votes.yes() < this.nodes.quorum()) {
					throw this.errors.noMajority("could not be looked up", lock, votes);
				}
				return state(lock, votes);
			});
	}

	private LockState state(LockName lock, Votes votes) {
		Map<String, List<NodeGrant>> byOwner = new LinkedHashMap<>();
		int waiters = 0;
		for (NodeResponse answer : votes.those(NodeResponse::isYes)) {
			waiters = Math.max(waiters, Math.toIntExact(answer.number(1)));
			grants(answer)
				.forEach((grant) -> byOwner.computeIfAbsent(grant.owner(), (owner) -> new ArrayList<>()).add(grant));
		}
		List<LockState.Holder> holders = byOwner.values()
			.stream()
			.filter((grants) -> grants.size() >= this.nodes.quorum())
			.map(this::holder)
			.toList();
		return new LockState(lock, RedlockLockBackend.NAME, holders, waiters);
	}

	private static List<NodeGrant> grants(NodeResponse answer) {
		List<Object> value = (answer.value() != null) ? answer.value() : List.of();
		List<NodeGrant> grants = new ArrayList<>();
		for (int i = FIRST_GRANT; i + PER_GRANT <= value.size(); i += PER_GRANT) {
			grants.add(new NodeGrant(LockMode.valueOf((String) value.get(i)), (String) value.get(i + 1),
					(Long) value.get(i + 2), (Long) value.get(i + 3)));
		}
		return grants;
	}

	/** Returns a holder; it keeps the lock until less than a majority has its lease. */
	private LockState.Holder holder(List<NodeGrant> grants) {
		List<NodeGrant> longestFirst = grants.stream()
			.sorted(Comparator.comparingLong(NodeGrant::restMillis).reversed())
			.toList();
		long rest = longestFirst.get(this.nodes.quorum() - 1).restMillis();
		return new LockState.Holder(grants.get(0).owner(), grants.get(0).mode(), Grant.fencingTokenOf(token(grants)),
				Duration.ofMillis(Math.max(0, rest)));
	}

	/**
	 * Returns the token on which a majority agrees. A node whose answer came too late for
	 * that may have a greater one. While there is no agreement, the greatest counts.
	 */
	private long token(List<NodeGrant> grants) {
		Map<Long, Long> nodesByToken = grants.stream()
			.collect(Collectors.groupingBy(NodeGrant::token, Collectors.counting()));
		return nodesByToken.entrySet()
			.stream()
			.filter((token) -> token.getValue() >= this.nodes.quorum())
			.map(Map.Entry::getKey)
			.findFirst()
			.orElseGet(() -> Collections.max(nodesByToken.keySet()));
	}

	/**
	 * Runs all commands that locks need on each node. Awaits a node no longer than an
	 * acquisition does, and no longer than the given time.
	 */
	CompletionStage<StoreStatus> status(Duration timeout) {
		return this.nodes.ask(timeout, Votes::ifComplete, RedlockNode::check).thenApply(this::status);
	}

	private StoreStatus status(Votes votes) {
		Map<String, String> states = new LinkedHashMap<>();
		for (RedlockNode node : this.nodes.all()) {
			states.put(node.address(), "silent");
		}
		votes.answers().forEach((answer) -> states.put(answer.node().address(), state(answer)));
		long up = states.values().stream().filter("up"::equals).count();
		Map<String, Object> details = Map.of("nodes", states, "quorum", this.nodes.quorum());
		return (up >= this.nodes.quorum()) ? StoreStatus.available(details) : StoreStatus.unavailable(details);
	}

	private String state(NodeResponse answer) {
		Throwable failure = answer.failure();
		if (failure instanceof SameServerException same) {
			return "same server as " + same.other();
		}
		if (failure != null) {
			return RedisNode.isDefinite(failure) ? "rejecting" : "silent";
		}
		return (answer.isYes() || !this.options.restartQuarantine()) ? "up" : "quarantined";
	}

	/**
	 * A grant on one node.
	 *
	 * @param mode exclusive or shared
	 * @param owner the owner id
	 * @param token the token on this node
	 * @param restMillis the remaining lease on this node
	 */
	private record NodeGrant(LockMode mode, String owner, long token, long restMillis) {
	}

}
