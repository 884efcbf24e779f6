package io.holdfast.lock.test.simulation;

import java.util.List;
import java.util.stream.Collectors;

import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;

/**
 * The operations and faults of one run. The same seed always creates the same plan. The
 * {@link Shrinker} removes parts of a plan to find the smallest plan that still fails.
 *
 * @param seed the seed from which the plan was created
 * @param noise the seed for everything that the plan leaves open, such as message delays
 * @param workload what the processes do
 * @param settings the settings of every engine
 * @param processes the number of processes
 * @param operations the operations of the processes
 * @param faults the faults
 */
record Plan(long seed, long noise, Workload workload, EngineSettings settings, int processes,
		List<Operation> operations, List<Fault> faults) {

	private static final int MOST_LINES = 20;

	static Plan of(long seed, BackendCapabilities able, int storeFaults, Workload workload) {
		return switch (workload) {
			case MIXED -> new Planner(seed, able, storeFaults).plan();
			default -> new QueuePlanner(seed, able, storeFaults, workload).plan();
		};
	}

	Plan withOperations(List<Operation> operations) {
		return new Plan(this.seed, this.noise, this.workload, this.settings, this.processes, operations, this.faults);
	}

	Plan withFaults(List<Fault> faults) {
		return new Plan(this.seed, this.noise, this.workload, this.settings, this.processes, this.operations, faults);
	}

	Plan withNoise(long noise) {
		return new Plan(this.seed, noise, this.workload, this.settings, this.processes, this.operations, this.faults);
	}

	@Override
	public String toString() {
		return "%d processes, lock-delay %dms, handoff to %d holds within %dms, sticky %dms%noperations:%n%s%nfaults:%n%s"
			.formatted(this.processes, this.settings.lockDelay().toMillis(), this.settings.handoff().maxHolds(),
					this.settings.handoff().maxTime().toMillis(), this.settings.sticky().toMillis(),
					lines(this.operations), lines(this.faults));
	}

	private static String lines(List<?> things) {
		if (things.isEmpty()) {
			return "  none";
		}
		String omitted = (things.size() > MOST_LINES) ? "%n  and %d more".formatted(things.size() - MOST_LINES) : "";
		return things.stream()
			.limit(MOST_LINES)
			.map((thing) -> "  " + thing)
			.collect(Collectors.joining(System.lineSeparator())) + omitted;
	}

}
