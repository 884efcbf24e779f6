package io.holdfast.lock.test.simulation;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The claims that wait at the store, to verify how many holders a lease serves meanwhile
 * in another process.
 */
final class Turns {

	private final Map<WaitQueues.Waiting, Turn> waiting = new LinkedHashMap<>();

	/** Adds a refused claim, which waits from the given time on. */
	void refused(WaitQueues.Waiting claim, long now) {
		this.waiting.putIfAbsent(claim, new Turn(now, new HashMap<>()));
	}

	/** Removes a claim that was granted or abandoned. */
	void remove(WaitQueues.Waiting claim) {
		this.waiting.remove(claim);
	}

	/**
	 * Counts a holder of a lease.
	 * @return a claim of another process that has waited for more holders than that, or
	 * empty
	 */
	Optional<WaitQueues.Waiting> served(Holder holder, int most) {
		String lock = holder.handle.lock().toString();
		return this.waiting.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().process != holder.call.process && entry.getKey().lock().equals(lock))
			.filter((entry) -> entry.getValue().holders.merge(holder.handle.ownerId(), 1, Integer::sum) > most)
			.map(Map.Entry::getKey)
			.findFirst();
	}

	/** Returns since when a claim has waited. */
	long since(WaitQueues.Waiting claim) {
		return this.waiting.get(claim).since;
	}

	/**
	 * The wait of one claim.
	 *
	 * @param since when it began
	 * @param holders the number of holders since then, by the owner id of their lease
	 */
	private record Turn(long since, Map<String, Integer> holders) {

	}

}
