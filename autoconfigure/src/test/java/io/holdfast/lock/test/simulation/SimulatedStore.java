package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import io.holdfast.lock.spi.LockBackend;

/**
 * A model of a store, or the real backend of a store with a simulated client. An instance
 * belongs to one run.
 *
 * <p>
 * To implement a store, create its servers with {@link Simulation#server}. In
 * {@link #connect}, give each process a backend that reaches these servers through
 * {@link SimulatedLink}s. A backend must use only the time and the timers of its process,
 * which is a {@code SchedulingClock}. See {@link AtomicStore} for an example.
 */
public interface SimulatedStore {

	/**
	 * Creates the backend of one process.
	 * @param process the process, which provides the clock and is the client of all links
	 * @return the backend
	 */
	LockBackend connect(SimulatedProcess process);

	/**
	 * Lists everything that the store and its clients still keep. Called when all
	 * operations and faults have ended and every lease has had time to expire.
	 * @return a description of each item; empty if there is none
	 */
	Collection<String> leftovers();

	/**
	 * Returns the faults of the store itself, such as the restart of a server. Network
	 * faults need not be listed, because they are simulated for each process.
	 * @return the faults, always the same number
	 */
	default List<StoreFault> faults() {
		return List.of();
	}

	/**
	 * Returns the longest lease that the store keeps without renewal, if the store limits
	 * it.
	 * @return the lease; one day by default, which is longer than any lease of a plan
	 */
	default Duration longestLease() {
		return Duration.ofDays(1);
	}

	/**
	 * Returns the number of timers of an idle client, such as the timer of its next
	 * heartbeat.
	 * @return the number of timers for each process; 0 by default
	 */
	default int timersPerProcess() {
		return 0;
	}

	/**
	 * Returns the longest lease or session that the store may keep after all operations
	 * and faults have ended.
	 * @return the duration; 30 seconds by default
	 */
	default Duration longestMemory() {
		return Duration.ofSeconds(30);
	}

	/**
	 * A temporary fault of the store.
	 *
	 * @param name the name in the history
	 * @param begin starts the fault
	 * @param end ends the fault
	 */
	record StoreFault(String name, Runnable begin, Runnable end) {
	}

	/**
	 * Creates a store for each run.
	 */
	@FunctionalInterface
	interface Factory {

		/**
		 * Creates an empty store.
		 * @param simulation the simulated run
		 * @return the store
		 */
		SimulatedStore create(Simulation simulation);

	}

}
