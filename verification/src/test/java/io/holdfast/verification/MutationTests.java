package io.holdfast.verification;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the checker detects deliberate defects of Holdfast.
 */
class MutationTests {

	private static final long SEED = 7;

	@Test
	void checkBeforeTheCommitIsWhatCatchesAPauseInTheBodyWhereNothingIsFenced() throws Exception {
		Verdict sound = new Run("redis", false, SEED).only(Fault.PAUSED_IN_BODY, 2);
		assertThat(sound.lost()).isZero();
		Verdict broken = new Run("redis", false, Mutation.NO_COMMIT_CHECK, SEED).only(Fault.PAUSED_IN_BODY, 2);
		assertThat(broken.lost()).isPositive();
	}

	@Test
	void lockThatIsLetGoBeforeTheCommitIsSeenToHaveTwoHoldersAndLosesUpdates() throws Exception {
		Verdict sound = new Run("redis", false, SEED).only(Fault.COMMIT_SLOW, 3);
		assertThat(sound.lost()).isZero();
		assertThat(sound.doubled()).isZero();
		assertThat(sound.bothPass()).isZero();
		Verdict broken = new Run("redis", false, Mutation.RELEASE_BEFORE_COMMIT, SEED).only(Fault.COMMIT_SLOW, 3);
		assertThat(broken.lost()).isPositive();
		assertThat(broken.doubled()).isPositive();
		assertThat(broken.bothPass()).isPositive();
	}

	@Test
	void tokensThatRepeatAreSeenInTheBooksAndRefusedByTheFence() throws Exception {
		Verdict unfenced = new Run("redis", false, Mutation.REPEATED_TOKEN, SEED).only(Fault.WIRE_CUT, 1);
		assertThat(unfenced.outOfOrder()).isPositive();
		Verdict fenced = new Run("redis", true, Mutation.REPEATED_TOKEN, SEED).only(Fault.WIRE_CUT, 1);
		assertThat(fenced.outOfOrder()).isZero();
		assertThat(fenced.answers().getOrDefault(History.Answer.STALE, 0)).isPositive();
	}

}
