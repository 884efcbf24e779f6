package io.holdfast.verification.benchmark;

import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The result of one process in one round.
 *
 * @param pairs the number of pairs of acquire and release
 * @param nanos the length of the round
 * @param cpuNanos the processor time of the process
 * @param least the pairs of the least busy thread
 * @param most the pairs of the busiest thread
 * @param p99Nanos the 99th percentile of the time to acquire
 * @param breaches how often a section found another one running
 * @param requests what the servers counted in the round, in Redis also the commands of
 * scripts; zero if they count nothing
 */
record RoundResult(long pairs, long nanos, long cpuNanos, long least, long most, long p99Nanos, long breaches,
		long requests) {

	/** Creates the result of one pair. */
	static RoundResult ofPair(long nanos) {
		return new RoundResult(1, nanos, 0, 1, 1, nanos, 0, 0);
	}

	/** Combines the processes of one round. */
	static RoundResult of(List<RoundResult> all) {
		return new RoundResult(sum(all.stream().mapToLong(RoundResult::pairs)), all.get(0).nanos,
				sum(all.stream().mapToLong(RoundResult::cpuNanos)),
				all.stream().mapToLong(RoundResult::least).min().orElse(0),
				all.stream().mapToLong(RoundResult::most).max().orElse(0),
				all.stream().mapToLong(RoundResult::p99Nanos).max().orElse(0),
				sum(all.stream().mapToLong(RoundResult::breaches)), 0);
	}

	RoundResult withRequests(long counted) {
		return new RoundResult(this.pairs, this.nanos, this.cpuNanos, this.least, this.most, this.p99Nanos,
				this.breaches, counted);
	}

	double requestsPerPair() {
		return (double) this.requests / Math.max(1, this.pairs);
	}

	private static long sum(LongStream values) {
		return values.sum();
	}

	double pairsPerSecond() {
		return this.pairs * 1e9 / this.nanos;
	}

	/** The least busy thread's share of the busiest one's pairs. */
	double fairness() {
		return (this.most == 0) ? 0 : (double) this.least / this.most;
	}

	String toLine() {
		return "%d %d %d %d %d %d %d".formatted(this.pairs, this.nanos, this.cpuNanos, this.least, this.most,
				this.p99Nanos, this.breaches);
	}

	static RoundResult parse(String line) {
		long[] values = Stream.of(line.split(" ")).mapToLong(Long::parseLong).toArray();
		return new RoundResult(values[0], values[1], values[2], values[3], values[4], values[5], values[6], 0);
	}

}
