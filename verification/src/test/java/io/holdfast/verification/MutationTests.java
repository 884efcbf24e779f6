package io.holdfast.verification;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the checker detects what a missing fence and deliberate defects of Holdfast
 * cause.
 */
@Execution(ExecutionMode.CONCURRENT)
class MutationTests {

	private static final long SEED = 7;

	/** The other tests of this class use the same faults. */
	@Test
	void withoutAFenceOnlyAPauseBeforeTheCommitLosesUpdates() throws Exception {
		try (Run run = new Run("redis", false, SEED)) {
			RunResult slow = run.inject(Fault.COMMIT_SLOW, 3);
			assertThat(slow.lost()).isZero();
			assertThat(slow.doubled()).isZero();
			assertThat(slow.bothPass()).isZero();
			assertThat(run.inject(Fault.PAUSED_IN_BODY, 2).lost()).isZero();
			assertThat(run.inject(Fault.PAUSED_BEFORE_COMMIT, 2).lost()).isPositive();
		}
	}

	@Test
	void withoutACheckBeforeTheCommitAPauseInTheBodyLosesUpdates() throws Exception {
		try (Run run = new Run("redis", false, Mutation.NO_COMMIT_CHECK, SEED)) {
			assertThat(run.inject(Fault.PAUSED_IN_BODY, 2).lost()).isPositive();
		}
	}

	@Test
	void releaseBeforeTheCommitCausesTwoHoldersAndLostUpdates() throws Exception {
		try (Run run = new Run("redis", false, Mutation.RELEASE_BEFORE_COMMIT, SEED)) {
			RunResult broken = run.inject(Fault.COMMIT_SLOW, 3);
			assertThat(broken.lost()).isPositive();
			assertThat(broken.doubled()).isPositive();
			assertThat(broken.bothPass()).isPositive();
		}
	}

	@Test
	void repeatedTokensAreRecorded() throws Exception {
		try (Run run = new Run("redis", false, Mutation.REPEATED_TOKEN, SEED)) {
			assertThat(run.inject(Fault.WIRE_CUT, 1).outOfOrder()).isPositive();
		}
	}

	@Test
	void repeatedTokensAreRefusedByTheFence() throws Exception {
		try (Run run = new Run("redis", true, Mutation.REPEATED_TOKEN, SEED)) {
			RunResult fenced = run.inject(Fault.WIRE_CUT, 1);
			assertThat(fenced.outOfOrder()).isZero();
			assertThat(fenced.answers().getOrDefault(History.Answer.STALE, 0)).isPositive();
		}
	}

}
