package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;

/**
 * What a run is to do and what is to go wrong in it. The same seed makes the same plan;
 * parts of a plan can be left out to find the smallest one that still fails.
 *
 * @param seed the seed that the plan was drawn with
 * @param noise the seed for what the plan leaves open, such as the time of each message
 * @param settings the settings of every engine
 * @param processes how many processes there are
 * @param operations what the processes do
 * @param faults what goes wrong
 */
record Plan(long seed, long noise, EngineSettings settings, int processes, List<Operation> operations,
		List<Fault> faults) {

	private static final int MOST_LINES = 20;

	static Plan of(long seed, BackendCapabilities able, int storeFaults, Workload workload) {
		return switch (workload) {
			case MIXED -> new Planner(seed, able, storeFaults).plan();
			default -> new QueuePlanner(seed, able, storeFaults, workload).plan();
		};
	}

	Plan withOperations(List<Operation> operations) {
		return new Plan(this.seed, this.noise, this.settings, this.processes, operations, this.faults);
	}

	Plan withFaults(List<Fault> faults) {
		return new Plan(this.seed, this.noise, this.settings, this.processes, this.operations, faults);
	}

	Plan withNoise(long noise) {
		return new Plan(this.seed, noise, this.settings, this.processes, this.operations, this.faults);
	}

	@Override
	public String toString() {
		return "%d processes, lock-delay %dms%noperations:%n%s%nfaults:%n%s".formatted(this.processes,
				this.settings.lockDelay().toMillis(), lines(this.operations), lines(this.faults));
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
