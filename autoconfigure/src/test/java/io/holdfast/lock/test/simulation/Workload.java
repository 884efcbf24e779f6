package io.holdfast.lock.test.simulation;

/**
 * What the processes of a run do.
 */
public enum Workload {

	/** Everything, in each run some of it. */
	MIXED,

	/**
	 * One lock is held for long and renewed, others wait for it for long, and the store
	 * fails meanwhile.
	 */
	LONG_HOLDS,

	/**
	 * One lock is held in order, with short leases that are not renewed, and waited for
	 * much longer than these. Nothing goes wrong.
	 */
	SHORT_LEASES,

	/**
	 * One lock is held for moments, with short leases, by several that wait for it for
	 * long. Nothing goes wrong but what the store itself does.
	 */
	SHORT_HOLDS,

	/**
	 * One lock is waited for with long leases, and a process stands still for longer than
	 * some of its callers wait, but not for longer than its lease or session lasts.
	 */
	PAUSED_WAITERS

}
