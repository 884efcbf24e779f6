package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.Collection;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that an abandoned claim leaves nothing behind and blocks no other
 * claim.
 */
interface AbandonCases {

	@Test
	default void abandonedGrantIsReleased(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim unanswered = Claims.exclusive(lock);
		bench.acquire(bench.first(), unanswered);
		bench.abandon(bench.first(), unanswered);
		Grant next = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		bench.abandon(bench.first(), unanswered);
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), next);
	}

	@Test
	default void abandonedWaiterBlocksNoClaim(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), waiter);
		bench.abandon(bench.second(), waiter);
		bench.assertReleased(bench.first(), holder);
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), Claims.exclusive(lock)));
	}

	@Test
	default void abandonNeverReleasesAnotherOwner(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.abandon(bench.second(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), waiter);
		bench.abandon(bench.second(), waiter);
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), holder);
	}

	@Test
	default void waiterAbandonedBeforeTheReleaseLosesNoSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim leaving = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.first(), leaving);
		Claim staying = Claims.waiting(Claims.exclusive(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.second(), staying));
		bench.abandon(bench.first(), leaving);
		bench.assertReleased(bench.first(), holder);
		hint.awaitSoon(bench);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), staying));
	}

	@Test
	default void waiterAbandonedAfterTheReleaseLosesNoSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim leaving = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.first(), leaving);
		Claim staying = Claims.waiting(Claims.exclusive(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.second(), staying));
		bench.assertReleased(bench.first(), holder);
		bench.abandon(bench.first(), leaving);
		hint.awaitSoon(bench);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), staying));
	}

	@Test
	default void contendedClaimWithoutWaitTimeLeavesNothing(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Collection<String> before = bench.leftovers();
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		Awaitility.await()
			.atMost(bench.bound())
			.untilAsserted(() -> assertThat(bench.leftovers()).allMatch(before::contains, "was there before"));
		bench.assertReleased(bench.first(), holder);
	}

	@Test
	default void contendedClaimExpiresAfterItsWaitTime(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertContended(bench.second(), Claims.exclusive(lock).withRemainingWait(Duration.ofMillis(100)));
		bench.assertReleased(bench.first(), holder);
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), Claims.exclusive(lock)));
	}

}
