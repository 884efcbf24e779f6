package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that an operator sees who holds a lock and can take it away from any
 * client.
 */
interface LookupCases {

	/** A claim that is not withdrawn keeps its position in the wait queue for longer. */
	Duration SHORTER_THAN_A_POSITION = Duration.ofSeconds(2);

	@Needs(Ability.LOOKUP)
	default void holderIsFoundByAnotherClient(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		assertThat(bench.find(bench.second(), lock).isHeld()).as("free lock").isFalse();
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(lock));
		LockState state = bench.find(bench.second(), lock);
		assertThat(state.lock()).isEqualTo(lock);
		assertThat(state.backend()).isEqualTo(bench.first().name());
		assertThat(state.holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.ownerId()).isEqualTo(grant.claim().owner().value());
			assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
			assertThat(holder.token()).isEqualTo(grant.fencingToken());
			if (holder.remainingLease() != null) {
				assertThat(holder.remainingLease()).isBetween(Duration.ZERO, Claims.LONG_LEASE.plusSeconds(1));
			}
		});
		assertThat(state.waiters()).isIn(null, 0);
		bench.assertReleased(bench.first(), grant);
		assertThat(bench.find(bench.second(), lock).isHeld()).as("released lock").isFalse();
	}

	@Needs({ Ability.LOOKUP, Ability.SHARED })
	default void everyReaderIsFoundButNoWaitingWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant one = bench.acquire(bench.first(), Claims.shared(lock));
		Grant other = bench.acquire(bench.second(), Claims.shared(lock));
		Claim writer = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), writer);
		LockState state = bench.find(bench.first(), lock);
		assertThat(state.holders()).extracting(LockState.Holder::ownerId)
			.containsExactlyInAnyOrder(one.claim().owner().value(), other.claim().owner().value());
		assertThat(state.holders()).extracting(LockState.Holder::mode).containsOnly(LockMode.SHARED);
		assertThat(state.waiters()).isIn(null, 1);
		bench.abandon(bench.second(), writer);
		assertThat(bench.revoke(bench.second(), lock, holder(state, one))).isTrue();
		assertThat(bench.find(bench.first(), lock).holders()).extracting(LockState.Holder::ownerId)
			.containsExactly(other.claim().owner().value());
		bench.assertReleased(bench.second(), other);
		bench.assertNotHeld(bench.first(), one);
	}

	/**
	 * An engine passes its lease on for as long as it finds no waiting claim. A minority
	 * of nodes may withdraw a claim later.
	 */
	@Needs({ Ability.LOOKUP, Ability.SHARED })
	default void everyWaitingClaimIsCounted(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim writer = Claims.waiting(Claims.exclusive(lock));
		Claim reader = Claims.waiting(Claims.shared(lock));
		bench.assertContended(bench.second(), writer);
		assertThat(bench.find(bench.first(), lock).waiters()).isIn(null, 1);
		bench.assertContended(bench.first(), reader);
		bench.assertContended(bench.second(), writer);
		assertThat(bench.find(bench.first(), lock).waiters()).isIn(null, 2);
		bench.abandon(bench.second(), writer);
		bench.abandon(bench.first(), reader);
		if (bench.decidesByVotes()) {
			Awaitility.await()
				.atMost(SHORTER_THAN_A_POSITION)
				.until(() -> bench.find(bench.first(), lock).waiters(), (waiters) -> waiters == 0);
		}
		assertThat(bench.find(bench.first(), lock).waiters()).isIn(null, 0);
		bench.assertReleased(bench.first(), holder);
	}

	private static LockState.Holder holder(LockState state, Grant grant) {
		return state.holders()
			.stream()
			.filter((holder) -> holder.ownerId().equals(grant.claim().owner().value()))
			.findFirst()
			.orElseThrow();
	}

	@Needs(Ability.LOOKUP)
	default void revokedHolderFreesTheLockForAGreaterToken(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant evicted = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(lock)));
		LockState.Holder seen = bench.find(bench.second(), lock).holders().get(0);
		assertThat(bench.revoke(bench.second(), lock, seen)).as("revoked by this call").isTrue();
		if (!bench.first().capabilities().has(Capability.SESSION_BOUND)) {
			assertThat(bench.revoke(bench.second(), lock, seen)).as("revoked again").isFalse();
		}
		Grant next = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(next.storeToken()).isGreaterThan(evicted.storeToken());
		assertThat(bench.renew(bench.first(), evicted)).singleElement().isNotInstanceOf(RenewResult.Renewed.class);
		bench.assertNotHeld(bench.first(), evicted);
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), next);
	}

	@Needs(Ability.LOOKUP)
	default void holderOfTheSameClientIsRevoked(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant evicted = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(lock)));
		bench.revoke(bench.first(), lock, bench.find(bench.first(), lock).holders().get(0));
		Grant next = bench.acquireSoon(bench.first(), Claims.exclusive(lock));
		bench.assertNotHeld(bench.first(), evicted);
		bench.assertReleased(bench.first(), next);
	}

	@Needs({ Ability.LOOKUP, Ability.SIGNAL })
	default void revocationNotifiesAWaiter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant evicted = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.second(), waiter));
		assertThat(bench.find(bench.first(), lock).waiters()).isIn(null, 1);
		bench.revoke(bench.first(), lock, bench.find(bench.first(), lock).holders().get(0));
		hint.awaitSoon(bench);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
		bench.assertNotHeld(bench.first(), evicted);
	}

	@Needs(Ability.LOOKUP)
	default void revocationOfAFormerHolderDoesNotAffectItsSuccessor(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant former = bench.acquire(bench.first(), Claims.exclusive(lock));
		LockState.Holder seen = bench.find(bench.second(), lock).holders().get(0);
		bench.assertReleased(bench.first(), former);
		Grant successor = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		// a node of a quorum may release the former holder only now, and the operator is
		// told to repeat it
		Awaitility.await().atMost(bench.bound()).ignoreException(ExecutionException.class).until(() -> {
			bench.revoke(bench.first(), lock, seen);
			return true;
		});
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), successor);
	}

	@Needs(Ability.LOOKUP)
	default void storeIsAvailable(Bench bench) {
		Awaitility.await()
			.atMost(bench.bound())
			.untilAsserted(() -> assertThat(bench.answer(bench.first().status()).state())
				.isEqualTo(StoreStatus.State.AVAILABLE));
	}

}
