package io.holdfast.verification;

/**
 * A deliberate defect of Holdfast, to verify that the checker detects it. An application
 * that can be broken has {@link Mutations} among its sources, and at most one defect at a
 * time.
 */
enum Mutation {

	/** No defect. */
	NONE,

	/** Commits are not checked. */
	NO_COMMIT_CHECK,

	/** Locks are released right before the commit. */
	RELEASE_BEFORE_COMMIT,

	/** Every grant of a lock has the same token. */
	REPEATED_TOKEN;

	/** The defect of this process. */
	private static volatile Mutation active = NONE;

	/** Breaks this process, and mends every other defect. */
	void activate() {
		active = this;
	}

	boolean isActive() {
		return active == this;
	}

}
