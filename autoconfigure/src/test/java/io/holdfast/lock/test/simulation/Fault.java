package io.holdfast.lock.test.simulation;

import java.time.Duration;

/**
 * A temporary fault, planned before the run.
 *
 * @param kind the kind of fault
 * @param target the number of the process, or of the store's fault
 * @param startAt the start of the fault, relative to the start of the run
 * @param length the duration of the fault
 * @param share the share of affected messages, between 0 and 1
 * @param most the longest delay of a message
 */
record Fault(Kind kind, int target, Duration startAt, Duration length, double share, Duration most) {

	@Override
	public String toString() {
		return "%s %d at %dms for %dms share=%.2f most=%dms".formatted(this.kind, this.target, this.startAt.toMillis(),
				this.length.toMillis(), this.share, this.most.toMillis());
	}

	/**
	 * The kinds of faults.
	 */
	enum Kind {

		/** A process is paused. */
		PAUSE,

		/** A process is killed. */
		KILL,

		/** Messages from and to a process are lost. */
		LOSS,

		/** Messages from a process are lost. */
		OUTGOING_LOSS,

		/** Messages to a process are lost. */
		INCOMING_LOSS,

		/** Messages from and to a process are delayed. */
		DELAY,

		/** Requests of a process arrive twice. */
		REPETITION,

		/** A fault of the store. */
		STORE

	}

}
