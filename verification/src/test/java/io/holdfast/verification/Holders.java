package io.holdfast.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the witnesses of a run have seen: who was in a transaction under which lock, from
 * when to when.
 */
final class Holders {

	private final Map<String, List<Span>> spans = new HashMap<>();

	/** Add what was written in the directory of a process. */
	void add(Path directory) throws IOException {
		Path file = directory.resolve(Witness.FILE);
		if (Files.exists(file)) {
			for (String line : Files.readAllLines(file)) {
				String[] fields = line.split(",");
				// the last line of a process that was killed may have been cut
				if (fields.length == 3) {
					add(fields[0], Long.parseLong(fields[1]), Long.parseLong(fields[2]));
				}
			}
		}
	}

	void add(String lock, long begin, long end) {
		this.spans.computeIfAbsent(lock, (name) -> new ArrayList<>()).add(new Span(begin, end));
	}

	/** How many transactions began while another was under the same lock. */
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

	private record Span(long begin, long end) {
	}

}
