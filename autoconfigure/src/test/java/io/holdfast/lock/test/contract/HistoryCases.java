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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a crowd has seen, put in order afterwards: nobody held while another did, and each
 * grant has a greater token than the one before.
 */
interface HistoryCases {

	/** How many owners there are at a time. */
	int CONTENDERS = 8;

	/** How often each of them holds. */
	int ROUNDS = 12;

	@Test
	default void historyOfACrowdHasNoOverlapAndGrowingTokens(Bench bench) throws Exception {
		long seed = System.nanoTime();
		LockName lock = Claims.newLock();
		List<Callable<List<Hold>>> crowd = new ArrayList<>();
		for (int i = 0; i < CONTENDERS; i++) {
			LockBackend client = bench.client(i);
			Random random = new Random(seed + i);
			crowd.add(() -> contend(bench, client, lock, random));
		}
		List<Hold> history = bench.together(crowd)
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

	private static List<Hold> contend(Bench bench, LockBackend client, LockName lock, Random random) throws Exception {
		List<Hold> holds = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			LockSupport.parkNanos(random.nextInt(2_000_000));
			Claim claim = Claims.exclusive(lock);
			Grant grant = bench.soonGranted(client, claim);
			long from = System.nanoTime();
			LockSupport.parkNanos(random.nextInt(1_000_000));
			long until = System.nanoTime();
			assertThat(Duration.ofNanos(until - from)).as("hold within its lease").isLessThan(Claims.LONG_LEASE);
			bench.released(client, grant);
			holds.add(new Hold(claim.owner().value(), grant.storeToken(), from, until));
		}
		return holds;
	}

	/**
	 * One hold, from when it was heard of until just before it was let go.
	 */
	record Hold(String owner, long token, long from, long until) {
	}

}
