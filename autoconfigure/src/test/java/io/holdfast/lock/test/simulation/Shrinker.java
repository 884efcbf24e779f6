package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Removes parts of a plan that are not needed to violate the same check: first large
 * parts, then single operations and faults.
 */
final class Shrinker {

	/** The maximum number of simulation steps for shrinking one plan. */
	private static final long MOST_STEPS = 1_000_000;

	/**
	 * The number of noise seeds to try, because removing a part changes the random values
	 * of the rest.
	 */
	private static final int NOISES = 6;

	private final Function<Plan, @Nullable Violation> run;

	private final LongSupplier steps;

	private final long stopAt;

	/**
	 * Creates a shrinker.
	 * @param run runs a plan for the check that must still be violated
	 * @param steps supplies the number of steps executed so far
	 */
	Shrinker(Function<Plan, @Nullable Violation> run, LongSupplier steps) {
		this.run = run;
		this.steps = steps;
		this.stopAt = steps.getAsLong() + MOST_STEPS;
	}

	Plan shrink(Plan plan) {
		Plan smaller = plan;
		Plan before;
		do {
			before = smaller;
			smaller = shrink(smaller, Plan::faults, Plan::withFaults);
			smaller = shrink(smaller, Plan::operations, Plan::withOperations);
		}
		while (smaller != before && this.steps.getAsLong() < this.stopAt);
		return smaller;
	}

	private <T> Plan shrink(Plan plan, Function<Plan, List<T>> parts, BiFunction<Plan, List<T>, Plan> with) {
		Plan smaller = plan;
		for (int size = Math.max(1, parts.apply(plan).size() / 2); size >= 1; size /= 2) {
			for (int from = 0; from < parts.apply(smaller).size();) {
				List<T> fewer = new ArrayList<>(parts.apply(smaller));
				fewer.subList(from, Math.min(fewer.size(), from + size)).clear();
				Plan candidate = failing(with.apply(smaller, List.copyOf(fewer)));
				from = (candidate != null) ? from : from + size;
				smaller = (candidate != null) ? candidate : smaller;
			}
		}
		return smaller;
	}

	private @Nullable Plan failing(Plan plan) {
		for (int noise = 0; noise < NOISES && this.steps.getAsLong() < this.stopAt; noise++) {
			Plan noisy = plan.withNoise(plan.noise() + noise);
			Violation violation = this.run.apply(noisy);
			if (violation != null) {
				return noisy;
			}
		}
		return null;
	}

}
