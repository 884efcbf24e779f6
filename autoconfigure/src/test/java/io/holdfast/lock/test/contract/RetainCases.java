package io.holdfast.lock.test.contract;

import java.time.Duration;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that a retained lock becomes available when the retention time has
 * elapsed, and not earlier.
 */
interface RetainCases {

	@Needs(Ability.RETAIN)
	default void retainingCutsALongLeaseShort(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		keepsOutForTheTime(bench, Claims.renewed(Claims.exclusive(lock)), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void retainingCutsALongLeaseThatIsNotRenewedShort(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		keepsOutForTheTime(bench, Claims.exclusive(lock), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void retainingExtendsAShortLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		keepsOutForTheTime(bench, Claims.lasting(bench.shortLease(), Claims.exclusive(lock)), Claims.exclusive(lock));
	}

	@Needs({ Ability.RETAIN, Ability.SHARED })
	default void retainedReaderKeepsWritersOutForTheTime(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		keepsOutForTheTime(bench, Claims.renewed(Claims.shared(lock)), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void retainingTooLateDoesNotStealFromTheSuccessor(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant expiring = bench.granted(bench.first(), Claims.lasting(bench.shortLease(), Claims.exclusive(lock)));
		Grant next = bench.soonGranted(bench.second(), Claims.exclusive(lock));
		assertThat(bench.retain(bench.first(), expiring, Claims.LONG_LEASE)).as("retention of %s", expiring).isFalse();
		bench.released(bench.second(), next);
		bench.released(bench.second(), bench.granted(bench.second(), Claims.exclusive(lock)));
	}

	/** Retains the lock with one client and acquires it with the other. */
	private static void keepsOutForTheTime(Bench bench, Claim retained, Claim next) throws Exception {
		Duration remaining = bench.shortLease().multipliedBy(2);
		Grant grant = bench.granted(bench.first(), retained);
		long asked = System.nanoTime();
		assertThat(bench.retain(bench.first(), grant, remaining)).as("retention of %s", grant).isTrue();
		Grant successor = bench.soonGranted(bench.second(), next);
		Duration kept = Duration.ofNanos(System.nanoTime() - asked);
		Duration tolerance = remaining.dividedBy(50).plusMillis(2);
		assertThat(kept).as("time that the lock was kept").isGreaterThan(remaining.minus(tolerance));
		bench.released(bench.second(), successor);
	}

}
