package io.holdfast.lock.test.contract;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult.Renewed;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that an instance learns when another one demands its sticky lease.
 */
interface StickyCases {

	/**
	 * The store may miss a claim that comes and goes while the instance of the lease
	 * begins to listen, so the claim is made again.
	 */
	@Needs(Ability.DEMAND)
	default void rejectedClaimDemandsAStickyLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant idle = bench.acquire(bench.first(), Claims.sticky(Claims.exclusive(lock)));
		assertThat(idle.sticky()).as("stickiness of %s", idle).isTrue();
		assertThat(isWanted(idle)).as("demand before another claim").isFalse();
		Awaitility.await("the demand").atMost(bench.bound()).until(() -> {
			Contended refusal = bench.assertContended(bench.second(), Claims.exclusive(lock));
			assertThat(refusal.demanded()).as("demand of %s", refusal).isTrue();
			return isWanted(idle);
		});
		bench.assertReleased(bench.first(), idle);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), Claims.exclusive(lock)));
	}

	@Needs(Ability.DEMAND)
	default void rejectedClaimDemandsNoOtherLease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		assertThat(holder.sticky()).as("stickiness of %s", holder).isFalse();
		Contended refusal = bench.assertContended(bench.second(), Claims.sticky(Claims.exclusive(lock)));
		assertThat(refusal.demanded()).as("demand of %s", refusal).isFalse();
		bench.assertReleased(bench.first(), holder);
	}

	/** Redlock orders claims of the same moment by their owners. */
	@Needs(Ability.DEMAND)
	default void stickyLeaseIsWantedIfOthersAlreadyWait(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		List<Claim> waiters = Stream.generate(() -> Claims.waiting(Claims.sticky(Claims.exclusive(lock))))
			.limit(2)
			.sorted(Comparator.comparing((waiter) -> waiter.owner().value()))
			.toList();
		Claim next = waiters.get(0);
		Claim last = waiters.get(1);
		bench.assertContended(bench.second(), next);
		bench.assertContended(bench.first(), last);
		bench.assertReleased(bench.first(), holder);
		Grant sticky = bench.acquireSoon(bench.second(), next);
		Awaitility.await("the demand").atMost(bench.bound()).until(() -> isWanted(sticky));
		bench.assertReleased(bench.second(), sticky);
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), last));
	}

	@Needs({ Ability.DEMAND, Ability.LOOKUP })
	default void stickyLeaseIsRenewedFoundAndRevoked(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant sticky = bench.acquire(bench.first(), Claims.sticky(Claims.renewed(Claims.exclusive(lock))));
		assertThat(bench.renew(bench.first(), sticky)).singleElement().isInstanceOf(Renewed.class);
		assertThat(bench.find(bench.second(), lock).holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.ownerId()).isEqualTo(sticky.claim().owner().value());
			assertThat(bench.revoke(bench.second(), lock, holder)).isTrue();
		});
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), Claims.exclusive(lock)));
		bench.assertNotHeld(bench.first(), sticky);
	}

	private static boolean isWanted(Grant grant) {
		return grant.wanted().toCompletableFuture().isDone();
	}

}
