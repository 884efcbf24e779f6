package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.holdfast.verification.History.Answer;
import io.holdfast.verification.History.Incident;

/**
 * The combined result of the database and the history of one run.
 *
 * @param store the store
 * @param fenced whether transactions were fenced
 * @param orders committed orders
 * @param lost orders that the stock does not account for
 * @param missing acknowledged orders that are not in the database
 * @param doubled transactions that began while another transaction held the same lock,
 * whether committed or rejected later
 * @param bothPass moments at which the checks of two holders of one lock would have
 * passed; excludes moments right after the store lost its locks or its clock was moved
 * @param outOfOrder orders that were written after one with a greater token
 * @param answers the attempts by outcome
 * @param faults the faults by kind
 * @param recoveries the times from the end of each fault to the next order, in
 * milliseconds, sorted
 * @param closed products that could not be ordered at some process after the last fault
 */
record RunResult(String store, boolean fenced, int orders, int lost, int missing, int doubled, int bothPass,
		int outOfOrder, Map<Answer, Integer> answers, Map<String, Integer> faults, List<Long> recoveries, int closed) {

	/** Stores of one server that loses data or measures time by a wall clock. */
	private static final Set<String> MAY_LOSE_LEASES = Set.of("redis", "redis-sentinel", "jdbc", "jdbc-advisory");

	static RunResult of(String store, boolean fenced, List<StockRecords> records, Holders holders, History history,
			int closed) {
		int orders = records.stream().mapToInt((product) -> product.entries().size()).sum();
		int lost = records.stream().mapToInt((product) -> product.lost(TestEnvironment.STOCK)).sum();
		int outOfOrder = records.stream().mapToInt(RunResult::outOfOrder).sum();
		int placed = history.answers().getOrDefault(Answer.PLACED, 0);
		return new RunResult(store, fenced, orders, lost, Math.max(0, placed - orders), holders.doubled(),
				bothPass(store, holders, history), outOfOrder, history.answers(), history.faults(),
				history.recoveries(), closed);
	}

	private static int bothPass(String store, Holders holders, History history) {
		return (int) holders.bothPass()
			.stream()
			.filter((moment) -> history.incidents()
				.stream()
				.noneMatch((incident) -> isExpected(store, incident, history.at(moment))))
			.count();
	}

	/**
	 * Whether a fault explains that two checks passed at a moment. A store that has lost
	 * its data, or whose clock jumps, ends leases without the knowledge of their holders
	 * until the next renewal. An advisory lock ends with its connection, and each check
	 * asks the server, but the records only contain for how long the lease was valid.
	 */
	private static boolean isExpected(String store, Incident incident, long moment) {
		Fault fault = Fault.valueOf(incident.kind());
		return MAY_LOSE_LEASES.contains(store)
				&& (fault.losesLeases() || (store.equals("jdbc-advisory") && fault == Fault.DATABASE_CUT))
				&& moment >= incident.begin() && moment <= incident.end() + StoreKit.LEASE_SECONDS * 1_000L;
	}

	private static int outOfOrder(StockRecords records) {
		int count = 0;
		long greatest = 0;
		for (long token : records.tokens()) {
			count += (token <= greatest) ? 1 : 0;
			greatest = Math.max(greatest, token);
		}
		return count;
	}

	int faultCount() {
		return this.faults.values().stream().mapToInt(Integer::intValue).sum();
	}

	private int answered(Answer answer) {
		return this.answers.getOrDefault(answer, 0);
	}

	private long recovery(double share) {
		return this.recoveries.isEmpty() ? 0
				: this.recoveries.get((int) Math.min(this.recoveries.size() - 1, share * this.recoveries.size()));
	}

	static String header() {
		return """
				| store | fencing | orders | faults | double holders | both checks pass | lost updates | out of order | stale refused | lost leases refused | busy | store | error | unknown | recovery p50 / max (ms) | closed |
				| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |""";
	}

	String row() {
		return "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d / %d | %d |".formatted(
				this.store, this.fenced ? "on" : "off", this.orders, faultCount(), this.doubled, this.bothPass,
				this.lost, this.outOfOrder, answered(Answer.STALE), answered(Answer.LOST), answered(Answer.BUSY),
				answered(Answer.NO_STORE), answered(Answer.ERROR), answered(Answer.UNKNOWN), recovery(0.5), recovery(1),
				this.closed);
	}

}
