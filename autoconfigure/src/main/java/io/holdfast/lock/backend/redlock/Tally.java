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
record Tally(List<NodeAnswer> answers, int pending) {

	static Tally empty(int nodes) {
		return new Tally(List.of(), nodes);
	}

	Tally with(NodeAnswer answer) {
		List<NodeAnswer> more = new ArrayList<>(this.answers);
		more.add(answer);
		return new Tally(List.copyOf(more), Math.max(0, this.pending - 1));
	}

	/** The same when nobody is waited for any more. */
	Tally closed() {
		return new Tally(this.answers, 0);
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
