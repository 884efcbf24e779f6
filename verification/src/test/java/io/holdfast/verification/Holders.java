package io.holdfast.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The transactions that the witnesses of a run have recorded, each with its lock, start
 * and end.
 */
final class Holders {

	private final Map<String, List<Span>> spans = new TreeMap<>();

	/** Adds the records in the directory of a process. */
	void add(int process, Path directory) throws IOException {
		Path file = directory.resolve(TransactionRecorder.FILE);
		if (Files.exists(file)) {
			for (String line : Files.readAllLines(file)) {
				String[] fields = line.split(",");
				// the last line of a killed process may be truncated
				if (fields.length == 4) {
					add(fields[0], new Span(process, Long.parseLong(fields[1]), Long.parseLong(fields[2]),
							Long.parseLong(fields[3])));
				}
			}
		}
	}

	private void add(String lock, Span span) {
		this.spans.computeIfAbsent(lock, (name) -> new ArrayList<>()).add(span);
	}

	/** Returns the locks in sorted order. */
	List<String> locks() {
		return List.copyOf(this.spans.keySet());
	}

	List<Span> of(String lock) {
		return this.spans.getOrDefault(lock, List.of());
	}

	/**
	 * Returns how many transactions began while another transaction held the same lock.
	 */
	int doubled() {
		return this.spans.values().stream().mapToInt(Holders::doubled).sum();
	}

	private static int doubled(List<Span> ofOneLock) {
		int count = 0;
		long latestEnd = Long.MIN_VALUE;
		for (Span span : ofOneLock.stream().sorted(Comparator.comparingLong(Span::begin)).toList()) {
			count += (span.begin() < latestEnd) ? 1 : 0;
			latestEnd = Math.max(latestEnd, span.end());
		}
		return count;
	}

	/**
	 * Returns the moments at which the checks of two holders of one lock would have
	 * passed, each given by its start.
	 */
	List<Long> bothPass() {
		return this.spans.values().stream().flatMap((ofOneLock) -> bothPass(ofOneLock).stream()).sorted().toList();
	}

	private static List<Long> bothPass(List<Span> ofOneLock) {
		List<Long> moments = new ArrayList<>();
		long latest = Long.MIN_VALUE;
		for (Span span : ofOneLock.stream().sorted(Comparator.comparingLong(Span::begin)).toList()) {
			if (span.begin() < latest && span.begin() < span.passes()) {
				moments.add(span.begin());
			}
			latest = Math.max(latest, span.passes());
		}
		return moments;
	}

	/**
	 * A transaction under a lock.
	 *
	 * @param process the number of the process
	 * @param begin when it began, in terms of {@link System#nanoTime()}
	 * @param end when it ended
	 * @param passes until when a check of the lock passed, at most until the end
	 */
	record Span(int process, long begin, long end, long passes) {
	}

}
