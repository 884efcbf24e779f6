package io.holdfast.verification;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The events of a run: every order attempt with its start and end, and every fault. Times
 * are milliseconds since the start of the run. Thread-safe.
 */
final class History {

	private final long start = System.nanoTime();

	private final ConcurrentLinkedQueue<Attempt> attempts = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<Incident> incidents = new ConcurrentLinkedQueue<>();

	long now() {
		return at(System.nanoTime());
	}

	/** Converts a value of {@link System#nanoTime()} to the time of this history. */
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

	/** Returns the number of attempts by outcome. */
	Map<Answer, Integer> answers() {
		Map<Answer, Integer> counted = new TreeMap<>();
		this.attempts.forEach((attempt) -> counted.merge(attempt.answer(), 1, Integer::sum));
		return counted;
	}

	/** Returns the number of faults by kind. */
	Map<String, Integer> faults() {
		Map<String, Integer> counted = new TreeMap<>();
		this.incidents.forEach((incident) -> counted.merge(incident.kind(), 1, Integer::sum));
		return counted;
	}

	/**
	 * Returns the times from the end of each fault to the next placed order, in
	 * milliseconds.
	 */
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

	/** The outcome of an attempt. */
	enum Answer {

		/** The order was placed. */
		PLACED,

		/** Another holder kept the lock for too long. */
		BUSY,

		/** The fence rejected a stale holder. */
		STALE,

		/** The commit was vetoed because the lock was lost. */
		LOST,

		/** The store did not respond, or rejected the request. */
		NO_STORE,

		/** Another error, such as an unavailable database. */
		ERROR,

		/** No response: outcome unknown. */
		UNKNOWN

	}

	/**
	 * One order attempt.
	 *
	 * @param process the number of the process
	 * @param product the id of the product
	 * @param begin when it was sent
	 * @param end when the response arrived
	 * @param answer the outcome
	 */
	record Attempt(int process, long product, long begin, long end, Answer answer) {
	}

	/**
	 * One fault.
	 *
	 * @param kind the kind of fault
	 * @param process the number of the affected process
	 * @param begin when it began
	 * @param end when it ended
	 */
	record Incident(String kind, int process, long begin, long end) {
	}

}
