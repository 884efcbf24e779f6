package io.holdfast.lock.test.contract;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
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
			.<Callable<AcquireResult>>mapToObj((i) -> () -> bench.ask(bench.client(i), Claims.exclusive(lock)))
			.toList();
		List<AcquireResult> results = bench.together(contenders);
		assertThat(results).filteredOn(Acquired.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(Contended.class::isInstance).hasSize(15);
		Acquired winner = results.stream()
			.filter(Acquired.class::isInstance)
			.map(Acquired.class::cast)
			.findFirst()
			.orElseThrow();
		bench.released(bench.client(results.indexOf(winner)), winner.grant());
	}

	@Test
	default void clientsExcludeEachOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant ofFirst = bench.granted(bench.first(), Claims.exclusive(lock));
		bench.refused(bench.second(), Claims.exclusive(lock));
		bench.released(bench.first(), ofFirst);
		Grant ofSecond = bench.granted(bench.second(), Claims.exclusive(lock));
		bench.refused(bench.first(), Claims.exclusive(lock));
		bench.released(bench.second(), ofSecond);
	}

	@Test
	default void ownersOfOneClientExcludeEachOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.granted(bench.first(), Claims.exclusive(lock));
		bench.refused(bench.first(), Claims.exclusive(lock));
		Callable<AcquireResult> otherThread = () -> bench.ask(bench.first(), Claims.exclusive(lock));
		assertThat(bench.together(List.of(otherThread))).allMatch(Contended.class::isInstance);
		bench.released(bench.first(), grant);
	}

	@Test
	default void sameOwnerAskingAgainGetsTheSameGrant(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.exclusive(lock);
		Grant grant = bench.granted(bench.first(), claim);
		Grant again = bench.granted(bench.first(), claim);
		assertThat(again.storeToken()).isEqualTo(grant.storeToken());
		bench.refused(bench.second(), Claims.exclusive(lock));
		bench.released(bench.first(), grant);
		bench.released(bench.second(), bench.granted(bench.second(), Claims.exclusive(lock)));
	}

	@Test
	default void grantSaysWhatWasGranted(Bench bench) throws Exception {
		Claim claim = Claims.exclusive(Claims.newLock());
		Grant grant = bench.granted(bench.first(), claim);
		assertThat(grant.claim().lock()).isEqualTo(claim.lock());
		assertThat(grant.claim().owner()).isEqualTo(claim.owner());
		assertThat(grant.lease()).isPositive();
		assertThat(FencingToken.of(grant.storeToken(), 0).value()).isPositive();
		bench.released(bench.first(), grant);
	}

	@Test
	default void refusalSaysWhenToAskAgain(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.granted(bench.first(), Claims.exclusive(lock));
		Contended refusal = bench.refused(bench.second(), Claims.exclusive(lock));
		assertThat(refusal.retryAfter()).isPositive().isLessThanOrEqualTo(grant.lease().plus(bench.bound()));
		bench.released(bench.first(), grant);
	}

}
