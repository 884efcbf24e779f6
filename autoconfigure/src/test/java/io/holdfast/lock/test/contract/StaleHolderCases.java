package io.holdfast.lock.test.contract;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that no operation of a stale holder affects its successor.
 */
interface StaleHolderCases {

	@Test
	default void lateReleaseDoesNotFreeTheSuccessor(Bench bench) throws Exception {
		Takeover takeover = Takeover.happen(bench);
		bench.assertNotHeld(bench.first(), takeover.stale());
		takeover.successorStillHolds(bench);
	}

	@Test
	default void lateRenewalDoesNotStealFromTheSuccessor(Bench bench) throws Exception {
		Takeover takeover = Takeover.happen(bench);
		assertThat(bench.renew(bench.first(), takeover.stale())).hasSize(1).allMatch(Refused.class::isInstance);
		takeover.successorStillHolds(bench);
	}

	@Test
	default void lateAbandonDoesNotFreeTheSuccessor(Bench bench) throws Exception {
		Takeover takeover = Takeover.happen(bench);
		bench.abandon(bench.first(), takeover.stale().claim());
		takeover.successorStillHolds(bench);
	}

	@Test
	default void staleOwnerIsRefusedWhenItRetries(Bench bench) throws Exception {
		Takeover takeover = Takeover.happen(bench);
		bench.assertContended(bench.first(), takeover.stale().claim());
		takeover.successorStillHolds(bench);
	}

	@Test
	default void staleOwnerGetsANewTokenAfterItsSuccessor(Bench bench) throws Exception {
		Takeover takeover = Takeover.happen(bench);
		bench.assertReleased(bench.second(), takeover.successor());
		Grant again = bench.acquireSoon(bench.first(), takeover.stale().claim());
		assertThat(again.storeToken()).isGreaterThan(takeover.successor().storeToken());
		bench.abandon(bench.first(), again.claim());
	}

	@Test
	default void releaseIsIdempotent(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), grant);
		bench.assertNotHeld(bench.first(), grant);
		Grant successor = bench.acquire(bench.second(), Claims.exclusive(lock));
		bench.assertNotHeld(bench.first(), grant);
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), successor);
	}

	/**
	 * A holder whose lease has expired without its knowledge, and its successor.
	 */
	record Takeover(Grant stale, Grant successor) {

		static Takeover happen(Bench bench) throws Exception {
			LockName lock = Claims.newLock();
			Grant stale = bench.acquire(bench.first(), Claims.exclusive(lock).withLeaseTime(bench.shortLease()));
			return new Takeover(stale, bench.acquireSoon(bench.second(), Claims.renewed(Claims.exclusive(lock))));
		}

		void successorStillHolds(Bench bench) throws Exception {
			bench.assertContended(bench.first(), Claims.exclusive(this.successor.claim().lock()));
			assertThat(bench.renew(bench.second(), this.successor)).hasSize(1).allMatch(Renewed.class::isInstance);
			bench.assertReleased(bench.second(), this.successor);
		}

	}

}
