package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The responses to one request so far. Immutable.
 *
 * @param answers the responses in the order of arrival
 * @param pending number of nodes that may still answer in time
 */
record Votes(List<NodeAnswer> answers, int pending) {

	static Votes empty(int nodes) {
		return new Votes(List.of(), nodes);
	}

	Votes with(NodeAnswer answer) {
		List<NodeAnswer> more = new ArrayList<>(this.answers);
		more.add(answer);
		return new Votes(List.copyOf(more), Math.max(0, this.pending - 1));
	}

	/** Returns the same votes without pending responses. */
	Votes closed() {
		return new Votes(this.answers, 0);
	}

	int yes() {
		return count(NodeAnswer::isYes);
	}

	int no() {
		return count(NodeAnswer::isNo);
	}

	int noVote() {
		return count(NodeAnswer::isNoVote);
	}

	int count(Predicate<NodeAnswer> which) {
		return Math.toIntExact(this.answers.stream().filter(which).count());
	}

	List<NodeAnswer> those(Predicate<NodeAnswer> which) {
		return this.answers.stream().filter(which).toList();
	}

}
