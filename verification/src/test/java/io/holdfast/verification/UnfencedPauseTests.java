package io.holdfast.verification;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the pauses of {@link PausedHolderTests} without a fence. Updates are lost on
 * every store whose leases expire, which proves that those tests detect a loss. One store
 * is enough for that in every build; {@code -P thorough} runs all of them.
 */
class UnfencedPauseTests {

	private static final long SEED = 7;

	@ParameterizedTest
	@MethodSource("stores")
	void withoutAFenceUpdatesAreLost(String store) throws Exception {
		assertThat(new Run(store, false, SEED).runFault(Fault.PAUSED_BEFORE_COMMIT, 2).lost()).isPositive();
	}

	static List<String> stores() {
		return Boolean.getBoolean("thorough") ? List.of("redis", "redlock", "zookeeper", "etcd", "jdbc")
				: List.of("redis");
	}

}
