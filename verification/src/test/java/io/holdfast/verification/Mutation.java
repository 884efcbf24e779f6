package io.holdfast.verification;

import java.util.List;

/**
 * Ways to break Holdfast on purpose, to see that the checker notices.
 */
enum Mutation {

	/** As it is. */
	NONE(List.of(), List.of()),

	/** Commits are not checked, and a lock is let go inside a caller's transaction. */
	NO_COMMIT_CHECK(
			List.of("--spring.autoconfigure.exclude=io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration"),
			List.of()),

	/** Locks are let go right before the commit. */
	RELEASE_BEFORE_COMMIT(List.of(), List.of(EarlyReleases.class)),

	/** Every grant of a lock has the same token. */
	REPEATED_TOKEN(List.of(), List.of(RepeatedTokens.class));

	private final List<String> arguments;

	private final List<Class<?>> sources;

	Mutation(List<String> arguments, List<Class<?>> sources) {
		this.arguments = arguments;
		this.sources = sources;
	}

	/** What to add to the command line. */
	List<String> arguments() {
		return this.arguments;
	}

	/** What to add to the application. */
	List<Class<?>> sources() {
		return this.sources;
	}

}
