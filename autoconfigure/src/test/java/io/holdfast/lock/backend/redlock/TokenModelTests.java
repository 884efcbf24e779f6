package io.holdfast.lock.backend.redlock;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.backend.redlock.TokenModel.Rules;

import static org.assertj.core.api.Assertions.assertThat;

class TokenModelTests {

	private static final int WORLDS = 10_000;

	private static final int STEPS = 1_500;

	@ParameterizedTest
	@ValueSource(ints = { 3, 5 })
	void tokensNeverFallAndAreNeverGivenTwice(int nodes) {
		long acquisitions = 0;
		for (long seed = 0; seed < WORLDS; seed++) {
			TokenModel world = new TokenModel(seed, nodes, Rules.ALL);
			assertThat(world.run(STEPS)).as("seed %d", seed).isNull();
			acquisitions += world.acquisitions();
		}
		assertThat(acquisitions).as("acquisitions looked at").isGreaterThan(5L * WORLDS);
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 5 })
	void tokensFallWithoutWritingThemBack(int nodes) {
		assertThat(firstViolation(nodes, new Rules(false, true, true))).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 5 })
	void tokensFallWithoutTheFloorOfARestartedNode(int nodes) {
		assertThat(firstViolation(nodes, new Rules(true, false, true))).isNotNull();
	}

	@Test
	void tokensAreGivenTwiceIfANodeAgreesToLessThanItKnows() {
		assertThat(firstViolation(3, new Rules(true, true, false))).isNotNull();
	}

	private static @Nullable String firstViolation(int nodes, Rules rules) {
		for (long seed = 0; seed < WORLDS; seed++) {
			String violation = new TokenModel(seed, nodes, rules).run(STEPS);
			if (violation != null) {
				return violation;
			}
		}
		return null;
	}

}
