package io.holdfast.verification;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What happened in a run: every attempt to order with its begin and end, and every fault.
 * Times are milliseconds since the run began. Thread-safe.
 */
final class History {

	private final long start = System.nanoTime();

	private final ConcurrentLinkedQueue<Attempt> attempts = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<Incident> incidents = new ConcurrentLinkedQueue<>();

	long now() {
		return at(System.nanoTime());
	}

	/** The time of this history at what a clock that only counts on showed. */
	long at(long nanoTime) {
		return (nanoTime - this.start) / 1_000_000;
	}

	void add(Attempt attempt) {
		this.attempts.add(attempt);
	}

	void add(Incident incident) {
		this.incidents.add(incident);
	}

	List<Attempt> attempts() {
		return List.copyOf(this.attempts);
	}

	List<Incident> incidents() {
		return List.copyOf(this.incidents);
	}

	/** How many attempts ended in which way. */
	Map<Answer, Integer> answers() {
		Map<Answer, Integer> counted = new TreeMap<>();
		this.attempts.forEach((attempt) -> counted.merge(attempt.answer(), 1, Integer::sum));
		return counted;
	}

	/** How many faults there were of which kind. */
	Map<String, Integer> faults() {
		Map<String, Integer> counted = new TreeMap<>();
		this.incidents.forEach((incident) -> counted.merge(incident.kind(), 1, Integer::sum));
		return counted;
	}

	/** From the end of each fault to the next order that was placed, in milliseconds. */
	List<Long> recoveries() {
		long[] successes = this.attempts.stream()
			.filter((attempt) -> attempt.answer() == Answer.PLACED)
			.mapToLong(Attempt::end)
			.sorted()
			.toArray();
		return this.incidents.stream().map((incident) -> {
			int next = Arrays.binarySearch(successes, incident.end());
			int index = (next >= 0) ? next : -next - 1;
			return (index < successes.length) ? successes[index] - incident.end() : -1L;
		}).filter((recovery) -> recovery >= 0).sorted().toList();
	}

	/** How an attempt ended. */
	enum Answer {

		/** The order was placed. */
		PLACED,

		/** Another held the lock for too long. */
		BUSY,

		/** The fence refused a holder that was overtaken. */
		STALE,

		/** The commit was refused, because the lock was lost. */
		LOST,

		/** The store did not answer, or refused. */
		NO_STORE,

		/** Another error, such as a database that is gone. */
		ERROR,

		/** No answer: nobody knows. */
		UNKNOWN

	}

	/**
	 * One attempt to order.
	 *
	 * @param process at which process
	 * @param product of which product
	 * @param begin when it was sent
	 * @param end when it was answered
	 * @param answer how
	 */
	record Attempt(int process, long product, long begin, long end, Answer answer) {
	}

	/**
	 * One fault.
	 *
	 * @param kind what was done
	 * @param process to which process
	 * @param begin when it began
	 * @param end when it was over
	 */
	record Incident(String kind, int process, long begin, long end) {
	}

}
