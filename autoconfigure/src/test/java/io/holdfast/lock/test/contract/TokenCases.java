package io.holdfast.lock.test.contract;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that the token of a lock grows with every grant, whatever happens
 * between grants.
 */
interface TokenCases {

	@Test
	default void tokensGrowAcrossReleases(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		long last = 0;
		for (int i = 0; i < 10; i++) {
			Grant grant = bench.acquire(bench.client(i), Claims.exclusive(lock));
			assertThat(grant.storeToken()).as("token of grant %d", i).isGreaterThan(last);
			last = grant.storeToken();
			bench.assertReleased(bench.client(i), grant);
		}
	}

	@Test
	default void tokensGrowAcrossATakeover(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant stale = bench.acquire(bench.first(), Claims.exclusive(lock).withLeaseTime(bench.shortLease()));
		Grant successor = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(successor.storeToken()).isGreaterThan(stale.storeToken());
		bench.assertReleased(bench.second(), successor);
	}

	@Test
	default void tokensGrowAcrossAnAbandonedGrant(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim unanswered = Claims.exclusive(lock);
		Grant abandoned = bench.acquire(bench.first(), unanswered);
		bench.abandon(bench.first(), unanswered);
		Grant next = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(next.storeToken()).isGreaterThan(abandoned.storeToken());
		bench.assertReleased(bench.second(), next);
	}

	@Needs(Ability.RESTART)
	default void tokensGrowAcrossARestart(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant before = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), before);
		bench.faults().restart();
		Grant after = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		bench.assertReleased(bench.second(), after);
	}

	@Needs(Ability.CUT_CONNECTION)
	default void tokensGrowAcrossAReconnection(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant before = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), before);
		bench.faults().cutConnections();
		Grant after = bench.acquireSoon(bench.first(), Claims.exclusive(lock));
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		bench.assertReleased(bench.first(), after);
	}

}
