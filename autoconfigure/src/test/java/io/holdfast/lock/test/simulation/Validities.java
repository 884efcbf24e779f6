package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * When holds end unless they are renewed. A hold may end while it is on its way from the
 * engine, which has found it valid, to its caller.
 */
final class Validities {

	private static final long LONGEST_DELIVERY = Duration.ofMillis(1).toNanos();

	/** A part of the allowance for clock drift, by which a hold is shorter. */
	private static final long DRIFT = Duration.ofMillis(2).toNanos();

	/** The ends of the latest holds by process and lock, by the process's clock. */
	private final Map<String, Long> ends = new HashMap<>();

	/**
	 * Records a grant.
	 * @param sentAt when the claim was sent
	 * @param lease the lease without the lock delay
	 */
	void granted(WaitQueues.Waiting claim, long sentAt, Duration lease) {
		long nanos = lease.toNanos();
		this.ends.put(claim.process.name() + claim.lock(), sentAt + nanos - nanos / 100 - DRIFT);
	}

	/** Whether the hold has ended so recently that the engine may have found it valid. */
	boolean hasJustEnded(Holder holder) {
		SimulatedProcess process = holder.call.process;
		Long end = this.ends.get(process.name() + holder.handle.lock());
		long ago = (end != null) ? process.nanos() - end : Long.MAX_VALUE;
		return ago >= 0 && ago <= LONGEST_DELIVERY;
	}

}
