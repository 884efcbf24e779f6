package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The renewals to come, the next one first: a binary heap whose elements know their
 * positions. Most leases are released before their first renewal, so an entry is added
 * and removed without an object of its own. Guarded by the watchdog's lock.
 */
final class RenewalQueue {

	private static final Comparator<RenewalSchedule> ORDER = Comparator
		.comparingLong((RenewalSchedule schedule) -> schedule.at)
		.thenComparingLong((schedule) -> schedule.number);

	private static final int LEAST_LENGTH = 16;

	private RenewalSchedule[] heap = new RenewalSchedule[LEAST_LENGTH];

	private int size;

	/** Returns the next renewal, or {@code null} if there is none. */
	@Nullable RenewalSchedule first() {
		return (this.size > 0) ? this.heap[0] : null;
	}

	/** Returns the renewals up to a time that match, in order. */
	List<RenewalSchedule> upTo(long latest, Predicate<RenewalSchedule> condition) {
		List<RenewalSchedule> found = new ArrayList<>();
		collect(0, latest, condition, found);
		found.sort(ORDER);
		return found;
	}

	/** Both children of a renewal are later than it is. */
	private void collect(int position, long latest, Predicate<RenewalSchedule> condition, List<RenewalSchedule> found) {
		if (position < this.size && this.heap[position].at <= latest) {
			if (condition.test(this.heap[position])) {
				found.add(this.heap[position]);
			}
			collect(2 * position + 1, latest, condition, found);
			collect(2 * position + 2, latest, condition, found);
		}
	}

	void add(RenewalSchedule schedule) {
		if (this.size == this.heap.length) {
			this.heap = Arrays.copyOf(this.heap, 2 * this.size);
		}
		moveUp(schedule, this.size++);
	}

	/** Removes a renewal that was added. Its time must not have changed since. */
	void remove(RenewalSchedule schedule) {
		int gap = schedule.position;
		RenewalSchedule last = this.heap[--this.size];
		Arrays.fill(this.heap, this.size, this.size + 1, null);
		if (last != schedule) {
			moveDown(last, gap);
			moveUp(last, last.position);
		}
		if (this.heap.length > LEAST_LENGTH && 4 * this.size < this.heap.length) {
			this.heap = Arrays.copyOf(this.heap, this.heap.length / 2);
		}
	}

	/** Returns the number of renewals for which there is room. */
	int capacity() {
		return this.heap.length;
	}

	private void moveUp(RenewalSchedule schedule, int from) {
		int gap = from;
		while (gap > 0 && isBefore(schedule, this.heap[(gap - 1) / 2])) {
			put(this.heap[(gap - 1) / 2], gap);
			gap = (gap - 1) / 2;
		}
		put(schedule, gap);
	}

	private void moveDown(RenewalSchedule schedule, int from) {
		int gap = from;
		for (int child = firstChild(gap); child < this.size
				&& isBefore(this.heap[child], schedule); child = firstChild(gap)) {
			put(this.heap[child], gap);
			gap = child;
		}
		put(schedule, gap);
	}

	/** Returns the child that is next, or a position beyond the end. */
	private int firstChild(int parent) {
		int left = 2 * parent + 1;
		return (left + 1 < this.size && isBefore(this.heap[left + 1], this.heap[left])) ? left + 1 : left;
	}

	private void put(RenewalSchedule schedule, int position) {
		this.heap[position] = schedule;
		schedule.position = position;
	}

	private static boolean isBefore(RenewalSchedule one, RenewalSchedule other) {
		return ORDER.compare(one, other) < 0;
	}

}
