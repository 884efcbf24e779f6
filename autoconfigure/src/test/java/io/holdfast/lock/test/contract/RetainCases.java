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
	default void retainShortensALongLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertRetained(bench, Claims.renewed(Claims.exclusive(lock)), bench.shortLease(), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void retainShortensALongLeaseWithoutRenewal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertRetained(bench, Claims.exclusive(lock), bench.shortLease(), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void retainExtendsAShortLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertRetained(bench, Claims.exclusive(lock).withLeaseTime(bench.shortLease()),
				bench.shortLease().multipliedBy(2), Claims.exclusive(lock));
	}

	@Needs({ Ability.RETAIN, Ability.SHARED })
	default void retainedReaderExcludesWritersForTheDuration(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertRetained(bench, Claims.renewed(Claims.shared(lock)), bench.shortLease(), Claims.exclusive(lock));
	}

	@Needs(Ability.RETAIN)
	default void lateRetainDoesNotAffectTheSuccessor(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant expiring = bench.acquire(bench.first(), Claims.exclusive(lock).withLeaseTime(bench.shortLease()));
		Grant next = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(bench.retain(bench.first(), expiring, Claims.LONG_LEASE)).as("retention of %s", expiring).isFalse();
		bench.assertReleased(bench.second(), next);
		bench.assertReleased(bench.second(), bench.acquire(bench.second(), Claims.exclusive(lock)));
	}

	/** Retains the lock with one client and acquires it with the other. */
	private static void assertRetained(Bench bench, Claim retained, Duration remaining, Claim next) throws Exception {
		Grant grant = bench.acquire(bench.first(), retained);
		long requestedAt = System.nanoTime();
		assertThat(bench.retain(bench.first(), grant, remaining)).as("retention of %s", grant).isTrue();
		Grant successor = bench.acquireSoon(bench.second(), next);
		Duration kept = Duration.ofNanos(System.nanoTime() - requestedAt);
		Duration tolerance = remaining.dividedBy(50).plusMillis(2);
		assertThat(kept).as("time that the lock was kept").isGreaterThan(remaining.minus(tolerance));
		bench.assertReleased(bench.second(), successor);
	}

}
