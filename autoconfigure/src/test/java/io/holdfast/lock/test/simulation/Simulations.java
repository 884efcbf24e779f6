package io.holdfast.lock.test.simulation;

import java.util.Optional;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;

/**
 * Runs one store with many seeds, and explains the first failure.
 *
 * <p>
 * The system property {@code simulation.seed} runs this one seed only,
 * {@code simulation.store} this one store only, and {@code thorough=true} runs
 * {@value #THOROUGH} times as many seeds.
 */
public final class Simulations {

	private static final int THOROUGH = 100;

	private static final int MOST_ATTEMPTS_TO_SHRINK = 3_000;

	/** What is left out of a plan also changes what chance does to the rest. */
	private static final int NOISES = 8;

	private final String store;

	private final SimulatedStore.Factory factory;

	private final BackendCapabilities capabilities;

	private final int storeFaults;

	private long steps;

	private Simulations(String store, SimulatedStore.Factory factory) {
		this.store = store;
		this.factory = factory;
		Simulation trial = new Simulation(0, History.discarded());
		SimulatedStore model = factory.create(trial);
		this.storeFaults = model.faults().size();
		this.capabilities = new SimulatedProcess(trial, 0, model, EngineSettings.DEFAULTS).capabilities();
	}

	/**
	 * Creates the simulations of a store.
	 * @param store the name of the store or of its mutation, for messages and for
	 * {@code simulation.store}
	 * @param factory creates the store for each run
	 * @return the simulations
	 */
	public static Simulations of(String store, SimulatedStore.Factory factory) {
		return new Simulations(store, factory);
	}

	/**
	 * Runs seeds and fails with the history of the first one that violates a check.
	 * @param count how many seeds
	 * @return how many steps that took
	 * @throws AssertionError if a check is violated
	 */
	public long run(int count) {
		if (!this.store.equals(System.getProperty("simulation.store", this.store))) {
			return 0;
		}
		Long only = Long.getLong("simulation.seed");
		int seeds = Boolean.getBoolean("thorough") ? THOROUGH * count : count;
		Optional<Failure> failure = (only != null) ? find(only, 1) : find(1, seeds);
		failure.ifPresent((found) -> {
			throw new AssertionError(found.explanation(), found.violation().cause());
		});
		return this.steps;
	}

	/**
	 * Runs seeds until one violates a check.
	 * @param first the first seed
	 * @param count how many seeds
	 * @return the first failure, if there is one
	 */
	public Optional<Failure> find(long first, int count) {
		try (QuietLogs quiet = new QuietLogs()) {
			for (long seed = first; seed < first + count; seed++) {
				Plan plan = Plan.of(seed, this.capabilities, this.storeFaults);
				Violation violation = run(plan, History.discarded());
				if (violation != null) {
					return Optional.of(explain(plan, violation));
				}
			}
			return Optional.empty();
		}
	}

	private @Nullable Violation run(Plan plan, History history) {
		Run run = new Run(plan, this.factory, history);
		Violation violation = run.run();
		this.steps += run.steps();
		return violation;
	}

	/** Repeats the run for its history, with as little in it as still fails. */
	private Failure explain(Plan plan, Violation violation) {
		Plan smallest = new Shrinking(violation.check()).shrink(plan);
		History history = History.recorded();
		Violation again = run(smallest, history);
		if (again == null) {
			throw new IllegalStateException("Seed %d of store %s failed with '%s', and did not when it was repeated"
				.formatted(plan.seed(), this.store, violation));
		}
		return new Failure(this.store, smallest, again, history);
	}

	/**
	 * The history of one seed, whether or not it fails.
	 */
	String history(long seed) {
		History history = History.recorded();
		run(Plan.of(seed, this.capabilities, this.storeFaults), history);
		return history.text();
	}

	/** Leaves out of a plan what it does not need to fail. */
	private final class Shrinking {

		private final String check;

		private int attempts;

		Shrinking(String check) {
			this.check = check;
		}

		Plan shrink(Plan plan) {
			Plan smaller = plan;
			Plan before;
			do {
				before = smaller;
				smaller = leaveOut(smaller, before.faults(), Plan::without);
				smaller = leaveOut(smaller, before.operations(), Plan::without);
			}
			while (smaller != before && this.attempts < MOST_ATTEMPTS_TO_SHRINK);
			return smaller;
		}

		private <T> Plan leaveOut(Plan plan, Iterable<T> parts, BiFunction<Plan, T, Plan> without) {
			Plan smaller = plan;
			for (T part : parts) {
				Plan candidate = without.apply(smaller, part);
				for (int noise = 0; noise < NOISES; noise++) {
					Plan noisy = candidate.withNoise(smaller.noise() + noise);
					if (this.attempts++ < MOST_ATTEMPTS_TO_SHRINK && fails(noisy)) {
						smaller = noisy;
						break;
					}
				}
			}
			return smaller;
		}

		private boolean fails(Plan plan) {
			Violation violation = Simulations.this.run(plan, History.discarded());
			return violation != null && violation.check().equals(this.check);
		}

	}

}
