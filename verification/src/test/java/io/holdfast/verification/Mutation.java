package io.holdfast.verification;

import java.util.List;

/**
 * A deliberate defect of Holdfast, to verify that the checker detects it.
 */
enum Mutation {

	/** No defect. */
	NONE(List.of(), List.of()),

	/**
	 * Commits are not checked, and a lock is released within the caller's transaction.
	 */
	NO_COMMIT_CHECK(
			List.of("--spring.autoconfigure.exclude=io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration"),
			List.of()),

	/** Locks are released right before the commit. */
	RELEASE_BEFORE_COMMIT(List.of(), List.of(EarlyReleases.class)),

	/** Every grant of a lock has the same token. */
	REPEATED_TOKEN(List.of(), List.of(RepeatedTokens.class));

	private final List<String> arguments;

	private final List<Class<?>> sources;

	Mutation(List<String> arguments, List<Class<?>> sources) {
		this.arguments = arguments;
		this.sources = sources;
	}

	/** Returns additional command line arguments. */
	List<String> arguments() {
		return this.arguments;
	}

	/** Returns additional configuration classes of the application. */
	List<Class<?>> sources() {
		return this.sources;
	}

}
