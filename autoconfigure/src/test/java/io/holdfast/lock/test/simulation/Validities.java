package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import io.holdfast.lock.LockName;

/**
 * The leases that were valid when they were granted or handed over. A hold may end while
 * it is on its way from the engine, which has found it valid, to its caller: its process
 * may be paused.
 */
final class Validities {

	/** A part of the allowance for clock drift, by which a hold is shorter. */
	private static final long DRIFT = Duration.ofMillis(2).toNanos();

	/** The processes and locks whose latest lease has not reached its holder yet. */
	private final Set<String> valid = new HashSet<>();

	/**
	 * Records a grant.
	 * @param sentAt when the claim was sent, by the process's clock
	 * @param lease the lease without the lock delay
	 */
	void granted(WaitQueues.Waiting claim, long sentAt, Duration lease) {
		long nanos = lease.toNanos();
		note(claim.process, claim.lock(), claim.process.nanos() - sentAt < nanos - nanos / 100 - DRIFT);
	}

	/**
	 * Records that a caller has taken over a lease.
	 * @param isValid whether it is valid
	 */
	void handedOff(SimulatedProcess process, LockName lock, boolean isValid) {
		note(process, lock.toString(), isValid);
	}

	private void note(SimulatedProcess process, String lock, boolean isValid) {
		String key = process.name() + lock;
		if (isValid) {
			this.valid.add(key);
		}
		else {
			this.valid.remove(key);
		}
	}

	/** Whether the lease of this new holder was valid when the engine checked it. */
	boolean wasValid(Holder holder) {
		return this.valid.remove(holder.call.process.name() + holder.handle.lock());
	}

}
