package io.holdfast.lock.test.simulation;

/**
 * A seed that violates a check, with what led to it.
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
	 * What was violated.
	 * @return the violation
	 */
	public Violation violation() {
		return this.violation;
	}

	/**
	 * The seed that shows it.
	 * @return the seed
	 */
	public long seed() {
		return this.plan.seed();
	}

	/**
	 * All that a person needs to follow it: the plan, the history of the lock, and how to
	 * repeat it.
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
