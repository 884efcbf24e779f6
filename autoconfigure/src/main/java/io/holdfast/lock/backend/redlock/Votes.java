package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The answers to one question so far. Immutable.
 *
 * @param answers the answers in the order of their arrival
 * @param pending how many nodes may still answer in time
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

	/** The same when nobody is waited for any more. */
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
