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
interface GivingUpCases {

	@Test
	default void abandonedGrantIsFree(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim unheard = Claims.exclusive(lock);
		bench.granted(bench.first(), unheard);
		bench.abandon(bench.first(), unheard);
		Grant next = bench.soonGranted(bench.second(), Claims.exclusive(lock));
		bench.abandon(bench.first(), unheard);
		bench.refused(bench.first(), Claims.exclusive(lock));
		bench.released(bench.second(), next);
	}

	@Test
	default void abandonedWaiterStandsInNobodysWay(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.second(), waiter);
		bench.abandon(bench.second(), waiter);
		bench.released(bench.first(), holder);
		bench.released(bench.first(), bench.soonGranted(bench.first(), Claims.exclusive(lock)));
	}

	@Test
	default void abandoningNeverFreesAnother(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		bench.abandon(bench.second(), Claims.exclusive(lock));
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.second(), waiter);
		bench.abandon(bench.second(), waiter);
		bench.refused(bench.second(), Claims.exclusive(lock));
		bench.released(bench.first(), holder);
	}

	@Test
	default void waiterThatLeavesBeforeTheReleaseDoesNotSwallowTheWakeUp(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim leaving = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.first(), leaving);
		Claim staying = Claims.patient(Claims.exclusive(lock));
		Turn turn = new Turn(bench.refused(bench.second(), staying));
		bench.abandon(bench.first(), leaving);
		bench.released(bench.first(), holder);
		turn.comesSoon(bench);
		bench.released(bench.second(), bench.soonGranted(bench.second(), staying));
	}

	@Test
	default void waiterThatLeavesAfterTheReleaseDoesNotSwallowTheWakeUp(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim leaving = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.first(), leaving);
		Claim staying = Claims.patient(Claims.exclusive(lock));
		Turn turn = new Turn(bench.refused(bench.second(), staying));
		bench.released(bench.first(), holder);
		bench.abandon(bench.first(), leaving);
		turn.comesSoon(bench);
		bench.released(bench.second(), bench.soonGranted(bench.second(), staying));
	}

	@Test
	default void refusedClaimWithoutPatienceLeavesNothing(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Collection<String> before = bench.leftovers();
		bench.refused(bench.second(), Claims.exclusive(lock));
		Awaitility.await()
			.atMost(bench.bound())
			.untilAsserted(() -> assertThat(bench.leftovers()).allMatch(before::contains, "was there before"));
		bench.released(bench.first(), holder);
	}

	@Test
	default void refusedClaimIsForgottenSomeTimeAfterItsPatience(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		bench.refused(bench.second(), Claims.exclusive(lock).withRemainingWait(Duration.ofMillis(100)));
		bench.released(bench.first(), holder);
		bench.released(bench.first(), bench.soonGranted(bench.first(), Claims.exclusive(lock)));
	}

}
