package io.holdfast.lock.test.contract.selftest;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.StoreFaults;

/**
 * Subclasses of the contract: for a sound client, for each flaw, and for missing
 * abilities. Only {@link ContractSelfTests} runs them.
 */
final class FlawedContracts {

	private static final long SUM = 1L << 52;

	private static final AtomicLong TOKENS = new AtomicLong();

	private FlawedContracts() {
	}

	static class Sound extends WireContract {

		Sound() {
			super(Wire::new);
		}

		@Override
		protected Duration bound() {
			return Duration.ofSeconds(10);
		}

	}

	static class FreesTheSuccessor extends WireContract {

		FreesTheSuccessor() {
			super(Flaws.FreesTheSuccessor::new);
		}

	}

	static class StealsOnRenewal extends WireContract {

		StealsOnRenewal() {
			super(Flaws.StealsOnRenewal::new);
		}

	}

	static class ReportsRenewalWithoutRenewing extends WireContract {

		ReportsRenewalWithoutRenewing() {
			super(Flaws.ReportsRenewalWithoutRenewing::new);
		}

	}

	static class ReportsRetainWithoutRetaining extends WireContract {

		ReportsRetainWithoutRetaining() {
			super(Flaws.ReportsRetainWithoutRetaining::new);
		}

	}

	static class ReleasesInsteadOfRetaining extends WireContract {

		ReleasesInsteadOfRetaining() {
			super(Flaws.ReleasesInsteadOfRetaining::new);
		}

	}

	static class IgnoresAbandon extends WireContract {

		IgnoresAbandon() {
			super(Flaws.IgnoresAbandon::new);
		}

	}

	static class ReportsUnansweredAsContended extends WireContract {

		ReportsUnansweredAsContended() {
			super(Flaws.ReportsUnansweredAsContended::new);
		}

	}

	static class WaitsToAcquire extends WireContract {

		WaitsToAcquire() {
			super((server) -> new BlockingFlaws.WaitsOnTheCallersThread(server, true));
		}

	}

	static class WaitsToAbandon extends WireContract {

		WaitsToAbandon() {
			super((server) -> new BlockingFlaws.WaitsOnTheCallersThread(server, false));
		}

	}

	static class SaysThatItBlocks extends WireContract {

		SaysThatItBlocks() {
			super(BlockingFlaws.SaysThatItBlocks::new);
		}

	}

	static class IgnoresDemand extends WireContract {

		IgnoresDemand() {
			super(Flaws.IgnoresDemand::new);
		}

	}

	static class DropsTheSignal extends WireContract {

		DropsTheSignal() {
			super(Flaws.DropsTheSignal::new);
		}

	}

	static class HidesHolders extends WireContract {

		HidesHolders() {
			super(Flaws.HidesHolders::new);
		}

	}

	static class HidesWaiters extends WireContract {

		HidesWaiters() {
			super(Flaws.HidesWaiters::new);
		}

	}

	static class RevokesTheSuccessor extends WireContract {

		RevokesTheSuccessor() {
			super(Flaws.RevokesTheSuccessor::new);
		}

	}

	static class IgnoresSessionEnd extends WireContract {

		IgnoresSessionEnd() {
			super(Flaws.IgnoresSessionEnd::new);
		}

	}

	static class TokenChangesOnRetry extends WireContract {

		TokenChangesOnRetry() {
			super((server) -> new Flaws.Renumbers(server, (token) -> TOKENS.incrementAndGet()));
		}

	}

	static class RefusesARetryOfItsOwner extends WireContract {

		RefusesARetryOfItsOwner() {
			super(Flaws.RefusesARetryOfItsOwner::new);
		}

	}

	static class HidesAnAbility extends WireContract {

		HidesAnAbility() {
			super(Wire::new);
		}

		@Override
		protected Map<Ability, String> lacks() {
			return Map.of(Ability.SHARED, "it is said to have no readers");
		}

	}

	static class LacksEveryFault extends WireContract {

		LacksEveryFault() {
			super(Wire::new);
		}

		@Override
		protected Map<Ability, String> lacks() {
			return Map.of(Ability.LOST_REPLY, "no wire", Ability.CUT_CONNECTION, "no wire", Ability.RESTART, "no end",
					Ability.PAUSE, "no pause", Ability.KILLED_SESSION, "no session");
		}

		@Override
		protected StoreFaults faults() {
			return StoreFaults.NONE;
		}

	}

	static class LacksAHarness extends WireContract {

		LacksAHarness() {
			super(Wire::new);
		}

		@Override
		protected StoreFaults faults() {
			return StoreFaults.NONE;
		}

	}

	static class TokenRepeats extends WireContract {

		TokenRepeats() {
			super((server) -> new Flaws.Renumbers(server, (token) -> 1L));
		}

	}

	static class TokenFalls extends WireContract {

		TokenFalls() {
			super((server) -> new Flaws.Renumbers(server, (token) -> SUM - token));
		}

	}

	static class KeepsHalfTheLease extends WireContract {

		KeepsHalfTheLease() {
			super((server) -> new Flaws.ChangesClaims(server,
					(claim) -> claim.withLeaseTime(claim.leaseTime().dividedBy(2))));
		}

	}

	static class NeverExpiresLeases extends WireContract {

		NeverExpiresLeases() {
			super((server) -> new Flaws.ChangesClaims(server, (claim) -> claim.withLeaseTime(Duration.ofMinutes(10))));
		}

	}

	static class KeepsClaimsThatDoNotWait extends WireContract {

		KeepsClaimsThatDoNotWait() {
			super((server) -> new Flaws.ChangesClaims(server,
					(claim) -> claim.withRemainingWait(Duration.ofMinutes(10))));
		}

		/** What is left in the store stays there, so a longer bound would not help. */
		@Override
		protected Duration bound() {
			return Duration.ofMillis(500);
		}

	}

	static class KeepsNoWaitQueue extends WireContract {

		KeepsNoWaitQueue() {
			super((server) -> new Flaws.ChangesClaims(server, (claim) -> claim.withRemainingWait(Duration.ZERO)));
		}

	}

	static class ComparesHashesOfKeys extends WireContract {

		ComparesHashesOfKeys() {
			super((server) -> new Flaws.ChangesClaims(server,
					(claim) -> withLock(claim, LockName.of("hash", Integer.toString(claim.lock().hashCode())))));
		}

	}

	static class LacksSharedMode extends WireContract {

		LacksSharedMode() {
			super((server) -> new Flaws.ChangesClaims(server, (claim) -> withMode(claim, LockMode.EXCLUSIVE)));
		}

	}

	static class LacksFairOrder extends WireContract {

		LacksFairOrder() {
			super((server) -> new Flaws.ChangesClaims(server, FlawedContracts::unfair));
		}

	}

	static class HasAStoreForEachClient extends WireContract {

		HasAStoreForEachClient() {
			super((server) -> new Wire(new Server()));
		}

	}

	private static Claim withLock(Claim claim, LockName lock) {
		return new Claim(lock, claim.owner(), claim.mode(), claim.leaseTime(), claim.renew(), claim.remainingWait(),
				claim.fair(), claim.sticky());
	}

	private static Claim withMode(Claim claim, LockMode mode) {
		return new Claim(claim.lock(), claim.owner(), mode, claim.leaseTime(), claim.renew(), claim.remainingWait(),
				claim.fair(), claim.sticky());
	}

	private static Claim unfair(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), claim.renew(),
				claim.remainingWait(), false, claim.sticky());
	}

}
