package io.holdfast.lock.test.simulation;

/**
 * A seed that violates a check, with the events that led to the violation.
 */
public final class Failure {

	private static final int LINES = 120;

	private final String store;

	private final Plan plan;

	private final Violation violation;

	private final History history;

	Failure(String store, Plan plan, Violation violation, History history) {
		this.store = store;
		this.plan = plan;
		this.violation = violation;
		this.history = history;
	}

	/**
	 * Returns the violation.
	 * @return the violation
	 */
	public Violation violation() {
		return this.violation;
	}

	/**
	 * Returns the seed that reproduces the violation.
	 * @return the seed
	 */
	public long seed() {
		return this.plan.seed();
	}

	/**
	 * Returns everything needed to analyze the failure: the plan, the history of the
	 * lock, and the command that repeats the run.
	 * @return the text
	 */
	public String explanation() {
		return """
				Store '%s', seed %d violates %s

				The smallest plan found that still does: %s

				What happened to the lock:
				%s

				Repeat it with: mvn -pl autoconfigure test -Dtest='*Simulation*Tests' -Dsimulation.store=%s -Dsimulation.seed=%d
				"""
			.formatted(this.store, seed(), this.violation, this.plan,
					this.history.last(LINES, this.violation.subject()), this.store, seed());
	}

	@Override
	public String toString() {
		return explanation();
	}

}
