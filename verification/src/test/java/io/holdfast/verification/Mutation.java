package io.holdfast.verification;

import java.util.List;

/**
 * Ways to break Holdfast on purpose, to see that the checker notices.
 */
enum Mutation {

	/** As it is. */
	NONE(List.of()),

	/** Commits are not checked, and a lock is let go inside a caller's transaction. */
	NO_COMMIT_CHECK(
			List.of("--spring.autoconfigure.exclude=io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration")),

	/** Every grant of a lock has the same token. */
	REPEATED_TOKEN(List.of("--spring.main.sources=" + RepeatedTokens.class.getName()));

	private final List<String> arguments;

	Mutation(List<String> arguments) {
		this.arguments = arguments;
	}

	/** What to add to the command line. */
	List<String> arguments() {
		return this.arguments;
	}

	/** Whether it needs classes of this module. */
	boolean isOurs() {
		return this == REPEATED_TOKEN;
	}

}
