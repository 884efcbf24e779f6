package io.holdfast.lock.test.contract;

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
	default void readersHoldTogetherAndKeepAWriterOut(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant one = bench.granted(bench.first(), Claims.shared(lock));
		Grant other = bench.granted(bench.second(), Claims.shared(lock));
		bench.refused(bench.second(), Claims.exclusive(lock));
		bench.released(bench.first(), one);
		bench.refused(bench.first(), Claims.exclusive(lock));
		bench.released(bench.second(), other);
		bench.released(bench.first(), bench.granted(bench.first(), Claims.exclusive(lock)));
	}

	@Needs(Ability.SHARED)
	default void writerKeepsReadersOut(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant writer = bench.granted(bench.first(), Claims.exclusive(lock));
		bench.refused(bench.first(), Claims.shared(lock));
		Claim reader = Claims.patient(Claims.shared(lock));
		Turn turn = new Turn(bench.refused(bench.second(), reader));
		bench.released(bench.first(), writer);
		turn.comesSoon(bench);
		bench.released(bench.second(), bench.soonGranted(bench.second(), reader));
	}

	@Needs(Ability.SHARED)
	default void everyWaitingReaderGetsInAfterAWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant writer = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim one = Claims.patient(Claims.shared(lock));
		Turn turnOfOne = new Turn(bench.refused(bench.first(), one));
		Claim other = Claims.patient(Claims.shared(lock));
		Turn turnOfOther = new Turn(bench.refused(bench.second(), other));
		bench.released(bench.first(), writer);
		turnOfOne.comesSoon(bench);
		turnOfOther.comesSoon(bench);
		Grant ofOne = bench.soonGranted(bench.first(), one);
		Grant ofOther = bench.soonGranted(bench.second(), other);
		bench.released(bench.first(), ofOne);
		bench.released(bench.second(), ofOther);
	}

	@Needs(Ability.SHARED)
	default void tokensGrowFromReaderToReaderAndToWriter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.shared(lock);
		Grant one = bench.granted(bench.first(), claim);
		Grant other = bench.granted(bench.second(), Claims.shared(lock));
		assertThat(other.storeToken()).isGreaterThan(one.storeToken());
		assertThat(bench.granted(bench.first(), claim).storeToken()).isEqualTo(one.storeToken());
		bench.released(bench.first(), one);
		bench.released(bench.second(), other);
		Grant writer = bench.granted(bench.first(), Claims.exclusive(lock));
		assertThat(writer.storeToken()).isGreaterThan(other.storeToken());
		bench.released(bench.first(), writer);
	}

	@Needs(Ability.SHARED)
	default void leaseOfAReaderEndsOnItsOwn(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant lasting = bench.granted(bench.first(), Claims.renewed(Claims.shared(lock)));
		Grant expiring = bench.granted(bench.second(), Claims.lasting(bench.shortLease(), Claims.shared(lock)));
		bench.released(bench.first(), lasting);
		Grant writer = bench.soonGranted(bench.first(), Claims.exclusive(lock));
		assertThat(bench.renew(bench.second(), expiring)).hasSize(1).allMatch(Refused.class::isInstance);
		bench.releasedInVain(bench.second(), expiring);
		bench.refused(bench.second(), Claims.shared(lock));
		bench.released(bench.first(), writer);
	}

	@Needs(Ability.SHARED)
	default void overtakenWriterIsRefusedBesideAReaderAndThenGetsANewToken(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		overtakenAskingAgain(bench, Claims.exclusive(lock), Claims.shared(lock));
	}

	@Needs(Ability.SHARED)
	default void overtakenReaderIsRefusedBesideAWriterAndThenGetsANewToken(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		overtakenAskingAgain(bench, Claims.shared(lock), Claims.exclusive(lock));
	}

	private static void overtakenAskingAgain(Bench bench, Claim claim, Claim other) throws Exception {
		Claim overtaken = Claims.lasting(bench.shortLease(), claim);
		Grant stale = bench.granted(bench.first(), overtaken);
		Grant successor = bench.soonGranted(bench.second(), Claims.renewed(other));
		bench.refused(bench.first(), overtaken);
		assertThat(bench.renew(bench.first(), stale)).hasSize(1).allMatch(Refused.class::isInstance);
		assertThat(bench.renew(bench.second(), successor)).hasSize(1).allMatch(Renewed.class::isInstance);
		bench.released(bench.second(), successor);
		Grant again = bench.soonGranted(bench.first(), overtaken);
		assertThat(again.storeToken()).isGreaterThan(successor.storeToken());
		bench.abandon(bench.first(), overtaken);
	}

	@Needs(Ability.SHARED)
	default void endOfOneReaderDoesNotEndTheOther(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant one = bench.granted(bench.first(), Claims.renewed(Claims.shared(lock)));
		Claim unheard = Claims.shared(lock);
		bench.granted(bench.second(), unheard);
		bench.abandon(bench.second(), unheard);
		Grant other = bench.granted(bench.second(), Claims.shared(lock));
		bench.released(bench.second(), other);
		bench.releasedInVain(bench.second(), other);
		bench.refused(bench.second(), Claims.exclusive(lock));
		assertThat(bench.renew(bench.first(), one)).hasSize(1).allMatch(Renewed.class::isInstance);
		bench.released(bench.first(), one);
	}

	/**
	 * Each reader acquires the lock before the previous reader releases it.
	 */
	@Needs(Ability.SHARED)
	default void waitingWriterIsNotStarvedByReaders(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant reader = bench.granted(bench.first(), Claims.shared(lock));
		Claim writer = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.second(), writer);
		int overtaken = 0;
		AcquireResult newcomer = bench.ask(bench.first(), Claims.shared(lock));
		while (newcomer instanceof Acquired acquired) {
			assertThat(++overtaken).as("readers that overtook a waiting writer").isLessThan(100);
			bench.released(bench.first(), reader);
			reader = acquired.grant();
			bench.refused(bench.second(), writer);
			newcomer = bench.ask(bench.first(), Claims.shared(lock));
		}
		bench.released(bench.first(), reader);
		bench.released(bench.second(), bench.soonGranted(bench.second(), writer));
		bench.released(bench.first(), bench.soonGranted(bench.first(), Claims.shared(lock)));
	}

	@Needs(Ability.SHARED)
	default void writerThatGaveUpKeepsNoReaderOut(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant reader = bench.granted(bench.first(), Claims.shared(lock));
		Claim writer = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.second(), writer);
		bench.abandon(bench.second(), writer);
		Grant other = bench.soonGranted(bench.second(), Claims.shared(lock));
		bench.released(bench.second(), other);
		bench.released(bench.first(), reader);
	}

}
