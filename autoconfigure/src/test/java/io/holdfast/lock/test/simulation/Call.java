package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * An operation in progress in its process.
 */
final class Call {

	final SimulatedProcess process;

	final Operation operation;

	final long startedAt;

	/** When the call started on the clock of its process. */
	final long startedNanos;

	/** When the call was refused or its hold was closed. */
	long endedAt = Long.MAX_VALUE;

	private final long startedRunning;

	final List<Holder> holders = new ArrayList<>(1);

	Call(SimulatedProcess process, Operation operation) {
		this.process = process;
		this.operation = operation;
		this.startedAt = process.simulation().now();
		this.startedNanos = process.nanos();
		this.startedRunning = process.runningTime();
	}

	boolean acquired() {
		return !this.holders.isEmpty();
	}

	/** Returns the elapsed time, without pauses of the process. */
	long runningTime() {
		return this.process.runningTime() - this.startedRunning;
	}

	@Override
	public String toString() {
		return "#" + this.operation.number();
	}

}
