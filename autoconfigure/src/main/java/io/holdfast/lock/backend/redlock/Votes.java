package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The responses to one request so far. Immutable.
 *
 * @param answers the responses in the order of arrival
 * @param pending number of nodes that may still answer in time
 */
record Votes(List<NodeResponse> answers, int pending) {

	static Votes empty(int nodes) {
		return new Votes(List.of(), nodes);
	}

	Votes with(NodeResponse answer) {
		List<NodeResponse> more = new ArrayList<>(this.answers);
		more.add(unlessSecond(answer));
		return new Votes(List.copyOf(more), Math.max(0, this.pending - 1));
	}

	/** A server that is reachable at two addresses votes once. */
	private NodeResponse unlessSecond(NodeResponse answer) {
		String runId = answer.runId();
		return this.answers.stream()
			.filter((other) -> runId != null && runId.equals(other.runId()))
			.findFirst()
			.map((other) -> answer.asSecondOf(other.node(), Objects.requireNonNull(runId)))
			.orElse(answer);
	}

	/** Reports nodes that are the same server as another. */
	void reportSecond() {
		for (NodeResponse answer : this.answers) {
			if (answer.failure() instanceof SameServerException same) {
				answer.node().report(same);
			}
		}
	}

	/** Returns these votes if no response is pending, otherwise {@code null}. */
	@Nullable Votes ifComplete() {
		return (this.pending == 0) ? this : null;
	}

	/** Returns the same votes without pending responses. */
	Votes closed() {
		return new Votes(this.answers, 0);
	}

	int yes() {
		return count(NodeResponse::isYes);
	}

	int no() {
		return count(NodeResponse::isNo);
	}

	int noVote() {
		return count(NodeResponse::isNoVote);
	}

	int count(Predicate<NodeResponse> which) {
		return Math.toIntExact(this.answers.stream().filter(which).count());
	}

	/**
	 * Returns the greatest number of nodes that rejected the claim because of the same
	 * owner, which holds the lock there or precedes the claim. All readers count as one.
	 */
	int mostBlocked() {
		List<String> blockers = those(NodeResponse::isNo).stream()
			.map(NodeResponse::blocker)
			.map((blocker) -> blocker.startsWith(NodeResponse.READERS) ? NodeResponse.READERS : blocker)
			.toList();
		return blockers.stream().mapToInt((blocker) -> Collections.frequency(blockers, blocker)).max().orElse(0);
	}

	/**
	 * Whether other owners, rather than missing responses, prevent a majority.
	 * @param no the number of nodes that reject the claim
	 */
	boolean isContended(int no, RedlockNodes nodes) {
		boolean majorityKnown = yes() + no + noVote() >= nodes.quorum();
		return no > nodes.tolerated() || (no > 0 && majorityKnown && noVote() <= nodes.tolerated());
	}

	/**
	 * Whether no owner has a majority, not even with the nodes that have not answered.
	 */
	boolean isSplit(RedlockNodes nodes) {
		int unknown = nodes.count() - yes() - no();
		return mostBlocked() + unknown < nodes.quorum();
	}

	/**
	 * Whether a majority belonged to the owner of the claim before this attempt. If the
	 * lease of an earlier grant has not expired either, no other owner can have held the
	 * lock since. It is the same grant with the same token, although other nodes may have
	 * agreed on it.
	 */
	boolean isUnbroken(RedlockNodes nodes) {
		return count((answer) -> answer.isYes() && answer.number(3) == 1) >= nodes.quorum();
	}

	/** Returns the greatest token below which a node did not go, or zero. */
	long greatestRejected() {
		return those(NodeResponse::isNo).stream().mapToLong((answer) -> answer.number(1)).max().orElse(0);
	}

	List<NodeResponse> those(Predicate<NodeResponse> which) {
		return this.answers.stream().filter(which).toList();
	}

}
