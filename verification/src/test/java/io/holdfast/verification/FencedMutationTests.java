package io.holdfast.verification;

import org.junit.jupiter.api.Test;

import io.holdfast.verification.TestEnvironment.Purpose;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the fence refuses what a deliberate defect of Holdfast causes. It has an
 * environment of its own, so it runs beside {@link MutationTests}.
 */
class FencedMutationTests {

	private static final long SEED = 7;

	@Test
	void repeatedTokensAreRefusedByTheFence() throws Exception {
		try (TestEnvironment fenced = new TestEnvironment("redis", true, Purpose.MUTATIONS);
				Run run = Run.of(Mutation.REPEATED_TOKEN, fenced, true, SEED)) {
			RunResult result = run.inject(Fault.WIRE_CUT, 1);
			assertThat(result.outOfOrder()).isZero();
			assertThat(result.answers().getOrDefault(History.Answer.STALE, 0)).isPositive();
		}
	}

}
