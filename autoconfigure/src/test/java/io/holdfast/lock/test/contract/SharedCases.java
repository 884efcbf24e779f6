package io.holdfast.lock.test.contract;

import java.time.Duration;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that a lock has many readers or one writer.
 */
interface SharedCases {

	@Needs(Ability.SHARED)
	default void readersShareTheLockAndExcludeAWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant one = bench.acquire(bench.first(), Claims.shared(lock));
		Grant other = bench.acquire(bench.second(), Claims.shared(lock));
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), one);
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), other);
		bench.assertReleased(bench.first(), bench.acquire(bench.first(), Claims.exclusive(lock)));
	}

	@Needs(Ability.SHARED)
	default void writerExcludesReaders(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant writer = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertContended(bench.first(), Claims.shared(lock));
		Claim reader = Claims.waiting(Claims.shared(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.second(), reader));
		bench.assertReleased(bench.first(), writer);
		hint.awaitSoon(bench);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), reader));
	}

	@Needs(Ability.SHARED)
	default void everyWaitingReaderAcquiresAfterAWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant writer = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim one = Claims.waiting(Claims.shared(lock));
		RetryHint hintOfOne = new RetryHint(bench.assertContended(bench.first(), one));
		Claim other = Claims.waiting(Claims.shared(lock));
		RetryHint hintOfOther = new RetryHint(bench.assertContended(bench.second(), other));
		bench.assertReleased(bench.first(), writer);
		hintOfOne.awaitSoon(bench);
		hintOfOther.awaitSoon(bench);
		Grant ofOne = bench.acquireSoon(bench.first(), one);
		Grant ofOther = bench.acquireSoon(bench.second(), other);
		bench.assertReleased(bench.first(), ofOne);
		bench.assertReleased(bench.second(), ofOther);
	}

	@Needs(Ability.SHARED)
	default void tokensGrowFromReaderToReaderAndToWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.shared(lock);
		Grant one = bench.acquire(bench.first(), claim);
		Grant other = bench.acquire(bench.second(), Claims.shared(lock));
		assertThat(other.storeToken()).isGreaterThan(one.storeToken());
		bench.assertRepeated(bench.acquire(bench.first(), claim), one);
		bench.assertReleased(bench.first(), one);
		bench.assertReleased(bench.second(), other);
		Grant writer = bench.acquire(bench.first(), Claims.exclusive(lock));
		assertThat(writer.storeToken()).isGreaterThan(other.storeToken());
		bench.assertReleased(bench.first(), writer);
	}

	@Needs(Ability.SHARED)
	default void leaseOfAReaderExpiresIndependently(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant lasting = bench.acquire(bench.first(), Claims.renewed(Claims.shared(lock)));
		Grant expiring = bench.acquire(bench.second(), Claims.shared(lock).withLeaseTime(bench.shortLease()));
		bench.assertReleased(bench.first(), lasting);
		Grant writer = bench.acquireSoon(bench.first(), Claims.exclusive(lock));
		assertThat(bench.renew(bench.second(), expiring)).hasSize(1).allMatch(Refused.class::isInstance);
		bench.assertNotHeld(bench.second(), expiring);
		bench.assertContended(bench.second(), Claims.shared(lock));
		bench.assertReleased(bench.first(), writer);
	}

	@Needs(Ability.SHARED)
	default void staleWriterIsRefusedBesideAReaderAndGetsANewToken(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertStaleClaimIsRefused(bench, Claims.exclusive(lock), Claims.shared(lock));
	}

	@Needs(Ability.SHARED)
	default void staleReaderIsRefusedBesideAWriterAndGetsANewToken(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertStaleClaimIsRefused(bench, Claims.shared(lock), Claims.exclusive(lock));
	}

	private static void assertStaleClaimIsRefused(Bench bench, Claim claim, Claim other) throws Exception {
		Claim overtaken = claim.withLeaseTime(bench.shortLease());
		Grant stale = bench.acquire(bench.first(), overtaken);
		Grant successor = bench.acquireSoon(bench.second(), Claims.renewed(other));
		bench.assertContended(bench.first(), overtaken);
		assertThat(bench.renew(bench.first(), stale)).hasSize(1).allMatch(Refused.class::isInstance);
		assertThat(bench.renew(bench.second(), successor)).hasSize(1).allMatch(Renewed.class::isInstance);
		bench.assertReleased(bench.second(), successor);
		Grant again = bench.acquireSoon(bench.first(), overtaken);
		assertThat(again.storeToken()).isGreaterThan(successor.storeToken());
		bench.abandon(bench.first(), overtaken);
	}

	@Needs(Ability.SHARED)
	default void releaseOfOneReaderDoesNotReleaseTheOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant one = bench.acquire(bench.first(), Claims.renewed(Claims.shared(lock)));
		Claim unanswered = Claims.shared(lock);
		bench.acquire(bench.second(), unanswered);
		bench.abandon(bench.second(), unanswered);
		Grant other = bench.acquire(bench.second(), Claims.shared(lock));
		bench.assertReleased(bench.second(), other);
		bench.assertNotHeld(bench.second(), other);
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		assertThat(bench.renew(bench.first(), one)).hasSize(1).allMatch(Renewed.class::isInstance);
		bench.assertReleased(bench.first(), one);
	}

	/**
	 * Each reader acquires the lock before the previous reader releases it.
	 */
	@Needs(Ability.SHARED)
	default void waitingWriterIsNotStarvedByReaders(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant reader = bench.acquire(bench.first(), Claims.shared(lock));
		Claim writer = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), writer);
		int overtaken = 0;
		AcquireResult newcomer = bench.attempt(bench.first(), Claims.shared(lock));
		while (newcomer instanceof Acquired acquired) {
			assertThat(++overtaken).as("readers that overtook a waiting writer").isLessThan(100);
			bench.assertReleased(bench.first(), reader);
			reader = acquired.grant();
			bench.assertContended(bench.second(), writer);
			newcomer = bench.attempt(bench.first(), Claims.shared(lock));
		}
		bench.assertReleased(bench.first(), reader);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), writer));
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), Claims.shared(lock)));
	}

	/**
	 * Each writer asks before the reader that was notified of the release. Writers may
	 * overtake a reader until its client listens to notifications.
	 */
	@Needs(Ability.SHARED)
	default void waitingReaderIsNotStarvedByWriters(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant writer = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim reader = Claims.waiting(Claims.shared(lock));
		bench.assertContended(bench.second(), reader);
		long start = System.nanoTime();
		AcquireResult newcomer = tryAfterRelease(bench, writer);
		while (newcomer instanceof Acquired acquired) {
			assertThat(Duration.ofNanos(System.nanoTime() - start)).as("time that writers overtake a waiting reader")
				.isLessThan(bench.bound());
			bench.assertContended(bench.second(), reader);
			newcomer = tryAfterRelease(bench, acquired.grant());
		}
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), reader));
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), Claims.exclusive(lock)));
	}

	private static AcquireResult tryAfterRelease(Bench bench, Grant grant) throws Exception {
		bench.assertReleased(bench.first(), grant);
		return bench.attempt(bench.first(), Claims.exclusive(grant.claim().lock()));
	}

	@Needs(Ability.SHARED)
	default void abandonedWriterBlocksNoReader(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant reader = bench.acquire(bench.first(), Claims.shared(lock));
		Claim writer = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), writer);
		bench.abandon(bench.second(), writer);
		Grant other = bench.acquireSoon(bench.second(), Claims.shared(lock));
		bench.assertReleased(bench.second(), other);
		bench.assertReleased(bench.first(), reader);
	}

}
