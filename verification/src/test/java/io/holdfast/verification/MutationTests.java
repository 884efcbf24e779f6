package io.holdfast.verification;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the checker detects deliberate defects of Holdfast.
 */
class MutationTests {

	private static final long SEED = 7;

	@Test
	void commitCheckDetectsAPauseInTheBodyWithoutAFence() throws Exception {
		RunResult sound = new Run("redis", false, SEED).runFault(Fault.PAUSED_IN_BODY, 2);
		assertThat(sound.lost()).isZero();
		RunResult broken = new Run("redis", false, Mutation.NO_COMMIT_CHECK, SEED).runFault(Fault.PAUSED_IN_BODY, 2);
		assertThat(broken.lost()).isPositive();
	}

	@Test
	void releaseBeforeTheCommitCausesTwoHoldersAndLostUpdates() throws Exception {
		RunResult sound = new Run("redis", false, SEED).runFault(Fault.COMMIT_SLOW, 3);
		assertThat(sound.lost()).isZero();
		assertThat(sound.doubled()).isZero();
		assertThat(sound.bothPass()).isZero();
		RunResult broken = new Run("redis", false, Mutation.RELEASE_BEFORE_COMMIT, SEED).runFault(Fault.COMMIT_SLOW, 3);
		assertThat(broken.lost()).isPositive();
		assertThat(broken.doubled()).isPositive();
		assertThat(broken.bothPass()).isPositive();
	}

	@Test
	void repeatedTokensAreRecordedAndRefusedByTheFence() throws Exception {
		RunResult unfenced = new Run("redis", false, Mutation.REPEATED_TOKEN, SEED).runFault(Fault.WIRE_CUT, 1);
		assertThat(unfenced.outOfOrder()).isPositive();
		RunResult fenced = new Run("redis", true, Mutation.REPEATED_TOKEN, SEED).runFault(Fault.WIRE_CUT, 1);
		assertThat(fenced.outOfOrder()).isZero();
		assertThat(fenced.answers().getOrDefault(History.Answer.STALE, 0)).isPositive();
	}

}
