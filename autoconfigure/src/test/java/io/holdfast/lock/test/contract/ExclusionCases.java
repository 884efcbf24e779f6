package io.holdfast.lock.test.contract;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that a lock has one holder.
 */
interface ExclusionCases {

	@Needs(Ability.UNDIVIDED_VOTE)
	default void onlyOneOfManyContendersIsGranted(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		List<Callable<AcquireResult>> contenders = IntStream.range(0, 16)
			.<Callable<AcquireResult>>mapToObj((i) -> () -> bench.attempt(bench.client(i), Claims.exclusive(lock)))
			.toList();
		List<AcquireResult> results = bench.runConcurrently(contenders);
		assertThat(results).filteredOn(Acquired.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(Contended.class::isInstance).hasSize(15);
		Acquired winner = results.stream()
			.filter(Acquired.class::isInstance)
			.map(Acquired.class::cast)
			.findFirst()
			.orElseThrow();
		bench.assertReleased(bench.client(results.indexOf(winner)), winner.grant());
	}

	@Test
	default void clientsExcludeEachOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant ofFirst = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), ofFirst);
		Grant ofSecond = bench.acquire(bench.second(), Claims.exclusive(lock));
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), ofSecond);
	}

	@Test
	default void ownersOfOneClientExcludeEachOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		Callable<AcquireResult> otherThread = () -> bench.attempt(bench.first(), Claims.exclusive(lock));
		assertThat(bench.runConcurrently(List.of(otherThread))).allMatch(Contended.class::isInstance);
		bench.assertReleased(bench.first(), grant);
	}

	@Test
	default void repeatedRequestOfAnOwnerReturnsTheSameGrant(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.exclusive(lock);
		Grant grant = bench.acquire(bench.first(), claim);
		Grant again = bench.acquire(bench.first(), claim);
		bench.assertRepeated(again, grant);
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), grant);
		bench.assertReleased(bench.second(), bench.acquire(bench.second(), Claims.exclusive(lock)));
	}

	@Test
	default void grantDescribesTheClaim(Bench bench) throws Exception {
		Claim claim = Claims.exclusive(Claims.newLock());
		Grant grant = bench.acquire(bench.first(), claim);
		assertThat(grant.claim().lock()).isEqualTo(claim.lock());
		assertThat(grant.claim().owner()).isEqualTo(claim.owner());
		assertThat(grant.lease()).isPositive();
		assertThat(grant.fencingToken().value()).isPositive();
		bench.assertReleased(bench.first(), grant);
	}

	@Test
	default void contendedResultHasARetryDelay(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(lock));
		Contended refusal = bench.assertContended(bench.second(), Claims.exclusive(lock));
		assertThat(refusal.retryAfter()).isPositive().isLessThanOrEqualTo(grant.lease().plus(bench.bound()));
		bench.assertReleased(bench.first(), grant);
	}

}
