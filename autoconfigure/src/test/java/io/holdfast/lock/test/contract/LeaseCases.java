package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
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
		Grant expiring = bench.acquire(bench.first(), Claims.lasting(bench.shortLease(), Claims.exclusive(lock)));
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
		LockName lock = Claims.newLock();
		Grant grant = bench.acquire(bench.first(), enduring(bench, Claims.renewed(Claims.exclusive(lock))));
		staysHeld(bench, grant,
				() -> assertThat(bench.renew(bench.first(), grant)).hasSize(1).allMatch(Renewed.class::isInstance));
		bench.assertReleased(bench.first(), grant);
	}

	@Test
	default void repeatedRequestOfAnOwnerRestartsTheLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = enduring(bench, Claims.exclusive(lock));
		Grant grant = bench.acquire(bench.first(), claim);
		staysHeld(bench, grant, () -> bench.acquire(bench.first(), claim));
		bench.assertReleased(bench.first(), grant);
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

	/**
	 * Returns the claim with a lease that lasts between extensions even on a busy
	 * machine.
	 */
	private static Claim enduring(Bench bench, Claim claim) {
		return Claims.lasting(bench.shortLease().multipliedBy(2), claim);
	}

	private static void staysHeld(Bench bench, Grant grant, AttemptToExtend extend) {
		Duration lease = grant.lease();
		long start = System.nanoTime();
		Awaitility.await()
			.atMost(lease.multipliedBy(4))
			.pollDelay(Duration.ZERO)
			.pollInterval(lease.dividedBy(6))
			.until(() -> {
				extend.attempt();
				bench.assertContended(bench.second(), Claims.exclusive(grant.claim().lock()));
				return System.nanoTime() - start > lease.multipliedBy(2).toNanos();
			});
	}

	/**
	 * One attempt to extend the lease.
	 */
	interface AttemptToExtend {

		void attempt() throws Exception;

	}

}
