package io.holdfast.verification;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests each store with two processes. First, sixteen buyers order one product, and every
 * order reads the stock, waits, computes and writes. Then, a holder is paused for longer
 * than its lease while its commit is on the wire. None of its own checks can help there;
 * the fence does.
 *
 * @see MutationTests
 */
@Execution(ExecutionMode.CONCURRENT)
class StoreTests {

	private static final long SEED = 7;

	private static final int ORDERS = 100;

	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void buyersOfOneProductAndAPausedHolderLoseNothing(String store) throws Exception {
		assertNothingIsLost(store);
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "redlock", "zookeeper", "etcd", "jdbc-advisory" })
	void theyLoseNothingWithTheOtherStores(String store) throws Exception {
		assertNothingIsLost(store);
	}

	private static void assertNothingIsLost(String store) throws Exception {
		try (Run run = new Run(store, true, SEED)) {
			run.sell(ORDERS, "distributed").assertNothingIsLost();
			assertNothingIsLost(run.inject(Fault.PAUSED_BEFORE_COMMIT, 1));
		}
	}

	private static void assertNothingIsLost(RunResult result) {
		assertThat(result.orders()).isPositive();
		assertThat(result.lost()).isZero();
		assertThat(result.outOfOrder()).isZero();
		assertThat(result.missing()).isZero();
		assertThat(result.bothPass()).isZero();
		assertThat(result.closed()).isZero();
	}

}
