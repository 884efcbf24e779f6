package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that a lease expires on time, and not earlier.
 */
interface LeaseCases {

	@Test
	default void expiredLeaseIsGrantedToTheNextOwner(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		long requestedAt = System.nanoTime();
		Grant expiring = bench.acquire(bench.first(), Claims.exclusive(lock).withLeaseTime(bench.shortLease()));
		Grant next = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		Duration kept = Duration.ofNanos(System.nanoTime() - requestedAt);
		// a store may round to milliseconds, and its clock may be slightly fast
		Duration tolerance = expiring.lease().dividedBy(50).plusMillis(2);
		assertThat(kept).as("time that the lease was kept").isGreaterThan(expiring.lease().minus(tolerance));
		bench.assertNotHeld(bench.first(), expiring);
		bench.assertReleased(bench.second(), next);
	}

	@Test
	default void renewalExtendsTheLease(Bench bench) throws Exception {
		ExtendedLease.happen(bench, Claims::renewed,
				(grant) -> bench.renew(bench.first(), grant).get(0) instanceof Renewed);
	}

	@Test
	default void repeatedRequestOfAnOwnerRestartsTheLease(Bench bench) throws Exception {
		ExtendedLease.happen(bench, UnaryOperator.identity(),
				(grant) -> bench.attempt(bench.first(), grant.claim()) instanceof Acquired);
	}

	@Test
	default void renewalReturnsResultsInOrder(Bench bench) throws Exception {
		Grant one = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(Claims.newLock())));
		Grant lost = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(Claims.newLock())));
		Grant other = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(Claims.newLock())));
		bench.assertReleased(bench.first(), lost);
		assertThat(bench.renew(bench.first(), one, lost, other)).satisfiesExactly(
				(result) -> assertThat(result).isInstanceOf(Renewed.class),
				(result) -> assertThat(result).isInstanceOf(Refused.class),
				(result) -> assertThat(result).isInstanceOf(Renewed.class));
		assertThat(bench.renew(bench.first(), lost)).hasSize(1).allMatch(Refused.class::isInstance);
		bench.assertReleased(bench.first(), one);
		bench.assertReleased(bench.first(), other);
	}

	@Test
	default void renewalOfNoGrantsReturnsNoResults(Bench bench) throws Exception {
		assertThat(bench.answer(bench.first().renew(List.of()))).isEmpty();
	}

}
