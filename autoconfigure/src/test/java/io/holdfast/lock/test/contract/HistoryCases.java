package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Bench.Granted;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that record the holds of many contenders and check their order afterwards: no two
 * holds overlap, and each grant has a greater token than the one before.
 */
interface HistoryCases {

	/** The number of owners that contend at the same time. */
	int CONTENDERS = 8;

	/** The number of contenders that vanish once during a hold. */
	int VANISHING = 2;

	/** The number of holds of each contender. */
	int ROUNDS = 12;

	@Test
	default void concurrentHoldsDoNotOverlapAndTokensGrow(Bench bench) throws Exception {
		long seed = System.nanoTime();
		LockName lock = Claims.newLock();
		List<Callable<List<Hold>>> contenders = new ArrayList<>();
		for (int i = 0; i < CONTENDERS; i++) {
			LockBackend client = bench.client(i);
			boolean vanishing = i < VANISHING;
			Random random = new Random(seed + i);
			contenders.add(() -> contend(bench, client, lock, vanishing, random));
		}
		List<Hold> history = bench.runConcurrently(contenders)
			.stream()
			.flatMap(List::stream)
			.sorted(Comparator.comparingLong((hold) -> hold.from() - seed))
			.toList();
		assertThat(history).hasSize(CONTENDERS * ROUNDS);
		for (int i = 1; i < history.size(); i++) {
			Hold before = history.get(i - 1);
			Hold hold = history.get(i);
			assertThat(hold.from() - before.until()).as("time from %s to %s; seed %d", before, hold, seed)
				.isNotNegative();
			assertThat(hold.token()).as("token of %s after %s; seed %d", hold, before, seed)
				.isGreaterThan(before.token());
		}
	}

	/**
	 * Acquires and releases the lock in each round. Halfway, a vanishing contender does
	 * not release its hold. It releases that hold after its last round.
	 */
	private static List<Hold> contend(Bench bench, LockBackend client, LockName lock, boolean vanishing, Random random)
			throws Exception {
		List<Hold> holds = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			LockSupport.parkNanos(random.nextInt(2_000_000));
			boolean vanishes = vanishing && i == ROUNDS / 2;
			holds.add(hold(bench, client, Claims.exclusive(lock), vanishes, random));
		}
		for (Hold hold : holds) {
			bench.assertNotHeld(client, hold.grant());
		}
		return holds;
	}

	private static Hold hold(Bench bench, LockBackend client, Claim claim, boolean vanishes, Random random)
			throws Exception {
		Duration lease = vanishes ? bench.shortLease() : Claims.LONG_LEASE;
		Granted granted = bench.acquireSoonSince(client, claim.withLeaseTime(lease));
		long from = System.nanoTime();
		if (vanishes) {
			long validity = granted.grant().lease().dividedBy(50).multipliedBy(49).minusMillis(2).toNanos();
			return new Hold(granted.grant(), from, Math.max(from, granted.requestedAt() + validity));
		}
		LockSupport.parkNanos(random.nextInt(1_000_000));
		long until = System.nanoTime();
		assertThat(Duration.ofNanos(until - granted.requestedAt())).as("hold within its lease").isLessThan(lease);
		bench.assertReleased(client, granted.grant());
		return new Hold(granted.grant(), from, until);
	}

	/**
	 * One hold. It starts when the response arrives. It ends right before the release, or
	 * when the holder must treat the lease as lost.
	 */
	record Hold(Grant grant, long from, long until) {

		long token() {
			return this.grant.storeToken();
		}

	}

}
