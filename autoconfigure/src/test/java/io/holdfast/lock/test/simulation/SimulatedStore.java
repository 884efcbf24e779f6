package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import io.holdfast.lock.spi.LockBackend;

/**
 * A model of a store, or the real adapter of a store whose client is a model. It belongs
 * to one run.
 *
 * <p>
 * To write one: create its servers with {@link Simulation#server}, and in
 * {@link #connect} give each process a backend that reaches them through
 * {@link SimulatedLink}s. A backend takes time and timers only from its process, which is
 * a {@code SchedulingClock}. {@link AtomicStore} is an example.
 */
public interface SimulatedStore {

	/**
	 * Creates the backend of one process.
	 * @param process the process; its clock, its links' client
	 * @return the backend
	 */
	LockBackend connect(SimulatedProcess process);

	/**
	 * What the store and its clients still keep. Asked when all operations have ended,
	 * all faults are over and every lease has had time to expire.
	 * @return a description of each thing; empty if nothing is left
	 */
	Collection<String> leftovers();

	/**
	 * What can go wrong with this store itself, such as the restart of a server. Faults
	 * of its network need not be listed: those of each process are simulated anyway.
	 * @return the faults, always the same number
	 */
	default List<StoreFault> faults() {
		return List.of();
	}

	/**
	 * What the processes do.
	 * @return the workload, always the same
	 */
	default Workload workload() {
		return Workload.MIXED;
	}

	/**
	 * The longest lease that is kept without renewal, where the store bounds it.
	 * @return the lease; by default longer than any
	 */
	default Duration longestLease() {
		return Duration.ofDays(1);
	}

	/**
	 * How many timers the client of a process has when it does nothing, such as that of
	 * its next heartbeat.
	 * @return the number
	 */
	default int timersPerProcess() {
		return 0;
	}

	/**
	 * The longest lease or session that the store may keep after everything else has
	 * ended.
	 * @return the duration
	 */
	default Duration longestMemory() {
		return Duration.ofSeconds(30);
	}

	/**
	 * A fault of the store that lasts for a while.
	 *
	 * @param name the name in the history
	 * @param begin starts it
	 * @param end ends it
	 */
	record StoreFault(String name, Runnable begin, Runnable end) {
	}

	/**
	 * Creates a store for a run.
	 */
	@FunctionalInterface
	interface Factory {

		/**
		 * Creates a store that keeps nothing.
		 * @param simulation the run
		 * @return the store
		 */
		SimulatedStore create(Simulation simulation);

	}

}
