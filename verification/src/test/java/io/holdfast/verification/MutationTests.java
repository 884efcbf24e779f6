package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import io.holdfast.verification.TestEnvironment.Purpose;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the checker detects what a missing lock, a missing fence and deliberate
 * defects of Holdfast cause.
 *
 * @see FencedMutationTests
 */
class MutationTests {

	private static final long SEED = 7;

	private static final int MOST_REPETITIONS = 10;

	@AutoClose
	private static final TestEnvironment unfenced = new TestEnvironment("redis", false, Purpose.MUTATIONS);

	/**
	 * The other tests of this class use the same faults. With several products, a pause
	 * in one body may find another order right before its commit.
	 */
	@Test
	void withoutAFenceOnlyAPauseBeforeTheCommitLosesUpdates() throws Exception {
		try (Run run = Run.ofOneProduct(unfenced, false, SEED)) {
			RunResult slow = run.inject(Fault.COMMIT_SLOW, 3);
			assertThat(slow.lost()).isZero();
			assertThat(slow.doubled()).isZero();
			assertThat(slow.bothPass()).isZero();
			assertThat(run.inject(Fault.PAUSED_IN_BODY, 2).lost()).isZero();
			assertThat(injectUntil(RunResult::lost, run, Fault.PAUSED_BEFORE_COMMIT).lost()).isPositive();
		}
	}

	@Test
	@DisplayName("Orders without a lock lose updates, and so do orders that release it before the commit")
	void ordersWithNoLockOrALockInsideTheTransactionLoseUpdates() throws Exception {
		try (Run run = unfenced(Mutation.NONE)) {
			for (String lock : List.of("none", "inside")) {
				assertThat(lostBy(run, lock)).as("lost updates with the lock '%s'", lock).isPositive();
			}
		}
	}

	private static int lostBy(Run run, String lock) throws Exception {
		int lost = 0;
		for (int orders = 100; lost == 0 && orders <= 1600; orders *= 2) {
			Sale sale = run.sell(orders, lock);
			assertThat(sale.answers()).as("answers by status").containsExactly(Map.entry(201, orders));
			lost = sale.lost();
		}
		return lost;
	}

	@Test
	void withoutACheckBeforeTheCommitAPauseInTheBodyLosesUpdates() throws Exception {
		try (Run run = unfenced(Mutation.NO_COMMIT_CHECK)) {
			assertThat(injectUntil(RunResult::lost, run, Fault.PAUSED_IN_BODY).lost()).isPositive();
		}
	}

	@Test
	void releaseBeforeTheCommitCausesTwoHoldersAndLostUpdates() throws Exception {
		try (Run run = unfenced(Mutation.RELEASE_BEFORE_COMMIT)) {
			RunResult broken = injectUntil(
					(result) -> Math.min(result.lost(), Math.min(result.doubled(), result.bothPass())), run,
					Fault.COMMIT_SLOW);
			assertThat(broken.lost()).isPositive();
			assertThat(broken.doubled()).isPositive();
			assertThat(broken.bothPass()).isPositive();
		}
	}

	@Test
	void repeatedTokensAreRecorded() throws Exception {
		try (Run run = unfenced(Mutation.REPEATED_TOKEN)) {
			assertThat(injectUntil(RunResult::outOfOrder, run, Fault.WIRE_CUT).outOfOrder()).isPositive();
		}
	}

	/**
	 * Repeats a fault until its effect shows: on a busy machine, orders of two processes
	 * may miss each other.
	 */
	private static RunResult injectUntil(ToIntFunction<RunResult> effect, Run run, Fault fault) throws Exception {
		RunResult result = run.inject(fault, 2);
		for (int i = 0; i < MOST_REPETITIONS && effect.applyAsInt(result) == 0; i++) {
			result = run.inject(fault, 2);
		}
		return result;
	}

	private static Run unfenced(Mutation mutation) throws Exception {
		return Run.of(mutation, unfenced, false, SEED);
	}

}
