package io.holdfast.verification;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests a holder that is paused for longer than its lease while its commit is on the
 * wire. None of its own checks can help there. With a fence no update is lost.
 *
 * @see UnfencedPauseTests
 */
class PausedHolderTests {

	private static final long SEED = 7;

	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "zookeeper", "etcd", "jdbc" })
	void fenceLosesNothing(String store) throws Exception {
		RunResult result = new Run(store, true, SEED).runFault(Fault.PAUSED_BEFORE_COMMIT, 1);
		assertThat(result.orders()).isPositive();
		assertThat(result.lost()).isZero();
		assertThat(result.outOfOrder()).isZero();
		assertThat(result.missing()).isZero();
		assertThat(result.bothPass()).isZero();
	}

}
