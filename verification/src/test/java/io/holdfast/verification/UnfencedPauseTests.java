package io.holdfast.verification;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the pauses of {@link PausedHolderTests} without a fence. Updates are lost on
 * every store whose leases expire, which proves that those tests detect a loss.
 */
class UnfencedPauseTests {

	private static final long SEED = 7;

	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "zookeeper", "etcd", "jdbc" })
	void withoutAFenceUpdatesAreLost(String store) throws Exception {
		assertThat(new Run(store, false, SEED).runFault(Fault.PAUSED_BEFORE_COMMIT, 2).lost()).isPositive();
	}

}
