package io.holdfast.lock.test.simulation;

import java.time.Duration;

/**
 * Something that goes wrong for a while, planned before the run.
 *
 * @param kind what goes wrong
 * @param target the number of the process, or of the store's fault
 * @param startAt when it starts, counted from the start of the run
 * @param length how long it lasts
 * @param share how many messages it concerns, between 0 and 1
 * @param most the longest delay of a message
 */
record Fault(Kind kind, int target, Duration startAt, Duration length, double share, Duration most) {

	@Override
	public String toString() {
		return "%s %d at %dms for %dms share=%.2f most=%dms".formatted(this.kind, this.target, this.startAt.toMillis(),
				this.length.toMillis(), this.share, this.most.toMillis());
	}

	/**
	 * What goes wrong.
	 */
	enum Kind {

		/** A process stands still. */
		PAUSE,

		/** A process dies. */
		KILL,

		/** Messages of a process are lost. */
		LOSS,

		/** Messages that a process sends are lost. */
		OUTGOING_LOSS,

		/** Messages that are sent to a process are lost. */
		INCOMING_LOSS,

		/** Messages of a process are late. */
		DELAY,

		/** Requests of a process arrive twice. */
		REPETITION,

		/** A fault of the store. */
		STORE

	}

}
