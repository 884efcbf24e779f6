package io.holdfast.lock.test.simulation;

import java.lang.reflect.Constructor;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;

import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;

/**
 * Runs one store with many seeds and explains the first failure.
 *
 * <p>
 * The system property {@code simulation.seed} restricts the run to one seed, and
 * {@code simulation.store} restricts it to one store. With {@code -Dthorough=true},
 * {@value #THOROUGH} times as many seeds run.
 */
public final class Simulations {

	private static final int THOROUGH = 100;

	private static final Predicate<String> ANY = (check) -> true;

	private final String store;

	private final SimulatedStore.Factory factory;

	private final BackendCapabilities capabilities;

	private final int storeFaults;

	private final Workload workload;

	private long steps;

	private Simulations(String store, SimulatedStore.Factory factory, Workload workload) {
		this.store = store;
		this.factory = factory;
		Simulation trial = new Simulation(0, History.discarded());
		SimulatedStore model = factory.create(trial);
		this.storeFaults = model.faults().size();
		this.workload = workload;
		this.capabilities = new SimulatedProcess(trial, 0, model, EngineSettings.DEFAULTS).capabilities();
	}

	/**
	 * Creates the simulations of a store with {@link Workload#MIXED}.
	 * @param store the name of the store or of its mutant, for messages and for
	 * {@code simulation.store}
	 * @param factory creates the store for each run
	 * @return the simulations
	 */
	public static Simulations of(String store, SimulatedStore.Factory factory) {
		return of(store, factory, Workload.MIXED);
	}

	/**
	 * Creates the simulations of a store.
	 * @param store the name of the store with this workload, for messages and for
	 * {@code simulation.store}
	 * @param factory creates the store for each run
	 * @param workload what the processes do
	 * @return the simulations
	 */
	public static Simulations of(String store, SimulatedStore.Factory factory, Workload workload) {
		return new Simulations(store, factory, workload);
	}

	/**
	 * Runs seeds, and fails with the history of the first seed that violates a check.
	 * @param count the number of seeds
	 * @throws AssertionError if a check is violated
	 */
	public void run(int count) {
		if (!this.store.equals(System.getProperty("simulation.store", this.store))) {
			return;
		}
		Long only = Long.getLong("simulation.seed");
		int seeds = Boolean.getBoolean("thorough") ? THOROUGH * count : count;
		Optional<Failure> failure = (only != null) ? find(only, 1) : find(1, seeds);
		failure.ifPresent((found) -> {
			throw new AssertionError(found.explanation(), found.violation().cause());
		});
	}

	/**
	 * Runs seeds until one of them violates a check, to show that a defect is detected.
	 * @param count the number of seeds
	 * @param check the name of the check
	 * @return the first such seed, or 0 if there is none
	 */
	public long find(int count, String check) {
		return find(1, count, check);
	}

	private long find(long likely, int count, String check) {
		try (QuietLogs quiet = new QuietLogs()) {
			return LongStream.concat(LongStream.of(likely), LongStream.rangeClosed(1, count))
				.filter((seed) -> run(plan(seed), check::equals, History.discarded()) != null)
				.findFirst()
				.orElse(0);
		}
	}

	/**
	 * Runs seeds until one of them violates a check, with the classes of the class loader
	 * that has loaded this class. {@link Mutant} calls this method through reflection.
	 * @param store the class name of the store
	 * @param workload the name of the workload
	 * @param likely the seed to run first
	 * @param count the number of seeds
	 * @param check the name of the check
	 * @return the first such seed, or 0 if there is none
	 * @throws ReflectiveOperationException if the store cannot be created
	 */
	public static long find(String store, String workload, long likely, int count, String check)
			throws ReflectiveOperationException {
		Constructor<?> constructor = Class.forName(store).getConstructor(Simulation.class);
		return of(store, (simulation) -> (SimulatedStore) BeanUtils.instantiateClass(constructor, simulation),
				Workload.valueOf(workload))
			.find(likely, count, check);
	}

	private Plan plan(long seed) {
		return Plan.of(seed, this.capabilities, this.storeFaults, this.workload);
	}

	Optional<Failure> find(long first, int count) {
		try (QuietLogs quiet = new QuietLogs()) {
			for (long seed = first; seed < first + count; seed++) {
				Plan plan = plan(seed);
				Violation violation = run(plan, ANY, History.discarded());
				if (violation != null) {
					return Optional.of(explain(plan, violation));
				}
			}
			return Optional.empty();
		}
	}

	private @Nullable Violation run(Plan plan, Predicate<String> checks, History history) {
		Run run = new Run(plan, this.factory, checks, history);
		Violation violation = run.run();
		this.steps += run.steps();
		return violation;
	}

	/** Shrinks the plan and repeats the run to record its history. */
	private Failure explain(Plan plan, Violation violation) {
		Predicate<String> same = violation.check()::equals;
		Plan smallest = new Shrinker((smaller) -> run(smaller, same, History.discarded()), () -> this.steps)
			.shrink(plan);
		History history = History.recorded();
		Violation again = run(smallest, same, history);
		if (again == null) {
			throw new IllegalStateException("Seed %d of store %s failed with '%s', and did not when it was repeated"
				.formatted(plan.seed(), this.store, violation));
		}
		return new Failure(this.store, smallest, again, history);
	}

	/**
	 * Returns the history of one seed, whether or not it fails.
	 */
	String history(long seed) {
		History history = History.recorded();
		run(plan(seed), ANY, history);
		return history.text();
	}

}
