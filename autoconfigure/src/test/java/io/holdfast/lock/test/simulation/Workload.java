package io.holdfast.lock.test.simulation;

/**
 * The workloads that the processes of a run can execute.
 */
public enum Workload {

	/** All features and faults, with a random selection in each run. */
	MIXED,

	/**
	 * One lock has long, renewed holds and long waits, while the store has faults.
	 */
	LONG_HOLDS,

	/**
	 * One lock is acquired in order, with short leases that are not renewed and with
	 * waits far longer than the leases. No faults.
	 */
	SHORT_LEASES,

	/**
	 * One lock has very short holds, short leases, and several callers with long waits.
	 * No faults except those of the store model itself.
	 */
	SHORT_HOLDS,

	/**
	 * One lock has long leases, and a process is paused. The pause is longer than the
	 * wait of some callers, but shorter than the lease and the session.
	 */
	PAUSED_WAITERS,

	/**
	 * Callers of one or two processes want one lock, whose holds end long before their
	 * {@code minHold}. Messages are lost or late, many of them later than the hold.
	 */
	MIN_HOLDS,

	/**
	 * Callers of one or two processes want one lock, and each lease may serve several of
	 * them. Processes are paused, and messages are lost or late.
	 */
	HANDOFFS,

	/**
	 * Callers of two or three processes want one lock, often without waiting, and its
	 * leases are sticky. Between their short holds, the lock is idle. Processes are
	 * paused, and messages are lost or late.
	 */
	STICKY,

	/**
	 * The workload of {@link #STICKY} with handoffs, while an operator releases locks by
	 * force.
	 */
	FORCED_RELEASES

}
