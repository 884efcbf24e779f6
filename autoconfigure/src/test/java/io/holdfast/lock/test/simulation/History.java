package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The events of a run, one line each. A run that is not recorded has no overhead. A
 * failed run is repeated with the same seed and recorded.
 */
public final class History {

	private static final double NANOS_PER_SECOND = 1e9;

	private final boolean recorded;

	private final List<Line> lines = new ArrayList<>();

	private long start;

	private History(boolean recorded) {
		this.recorded = recorded;
	}

	/**
	 * Creates a history that keeps all events.
	 * @return the history
	 */
	public static History recorded() {
		return new History(true);
	}

	/**
	 * Creates a history that keeps no events.
	 * @return the history
	 */
	public static History discarded() {
		return new History(false);
	}

	void startAt(long time) {
		this.start = time;
	}

	/**
	 * Records an event.
	 * @param simulation the run, which provides the time
	 * @param where the name of the node where the event happened
	 * @param subject the affected lock, or empty if the event affects all locks
	 * @param what the description of the event, only evaluated if the run is recorded
	 */
	public void add(Simulation simulation, String where, String subject, Supplier<String> what) {
		if (this.recorded) {
			this.lines.add(new Line(simulation.now(), where, subject, what.get()));
		}
	}

	/** Returns all lines as text. */
	String text() {
		return this.lines.stream().map(this::format).collect(Collectors.joining("\n"));
	}

	/**
	 * Returns the last lines that concern the given lock or all locks.
	 */
	String last(int count, String subject) {
		List<Line> about = this.lines.stream()
			.filter((line) -> subject.isEmpty() || line.subject.isEmpty() || line.subject.equals(subject))
			.toList();
		List<String> text = folded(about);
		int from = Math.max(0, text.size() - count);
		String omitted = (from > 0) ? "(%d earlier lines omitted)%n".formatted(from) : "";
		return omitted + String.join(System.lineSeparator(), text.subList(from, text.size()));
	}

	/** Omits pairs of lines that repeat the previous pair, as renewals do. */
	private List<String> folded(List<Line> lines) {
		List<String> text = new ArrayList<>();
		int repeated = 0;
		for (int i = 0; i < lines.size(); i++) {
			if (repeatsPair(lines, i)) {
				repeated++;
				i++;
				continue;
			}
			if (repeated > 0) {
				text.add("%13s  (the last two lines are repeated %d times)".formatted("...", repeated));
				repeated = 0;
			}
			text.add(format(lines.get(i)));
		}
		return text;
	}

	private static boolean repeatsPair(List<Line> lines, int at) {
		return at >= 2 && at + 1 < lines.size() && lines.get(at).sameAs(lines.get(at - 2))
				&& lines.get(at + 1).sameAs(lines.get(at - 1));
	}

	private String format(Line line) {
		double seconds = (line.time - this.start) / NANOS_PER_SECOND;
		return String.format(Locale.ROOT, "%11.6f s  %-8s %-8s %s", seconds, line.where, line.subject, line.what);
	}

	private record Line(long time, String where, String subject, String what) {

		boolean sameAs(Line other) {
			return this.where.equals(other.where) && this.subject.equals(other.subject) && this.what.equals(other.what);
		}

	}

}
