package io.holdfast.lock.test.simulation;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.ForwardingBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Checks}: each check detects a planted defect.
 */
class ChecksTests {

	private static final int SEEDS = 2_000;

	@Test
	void storeThatGrantsALockTwiceIsFound() {
		Mutant mutant = new Mutant().answer("backend.local.LocalLock#conflict", false);
		assertThat(mutant.find(AtomicStore.class, SEEDS, "exclusion")).isPositive();
	}

	@Test
	void tokenThatDoesNotGrowIsFound() {
		assertThat(grants("tokens", (grant) -> new Grant(grant.claim(), 1, grant.lease()))).isPositive();
	}

	@Test
	void leaseShorterThanRequestedIsFound() {
		assertThat(grants("lease", (grant) -> new Grant(grant.claim(), grant.storeToken(), grant.lease().dividedBy(2))))
			.isPositive();
	}

	@Test
	void storeLeftoverIsFound() {
		SimulatedStore.Factory store = (simulation) -> new PlantedStore(simulation, UnaryOperator.identity(),
				UnaryOperator.identity(), List.of("lock stock:0"));
		assertThat(Simulations.of("planted", store).find(1, "leftovers")).isEqualTo(1);
	}

	@Test
	void callThatIsNeverAnsweredIsFound() {
		Mutant mutant = new Mutant().skip("engine.Acquisition#timedOut");
		assertThat(mutant.find(AtomicStore.class, SEEDS, "deadline")).isPositive();
	}

	@Test
	void violatedLockDelayIsFound() {
		UnaryOperator<Claim> shorter = (claim) -> new Claim(claim.lock(), claim.owner(), claim.mode(),
				claim.leaseTime().dividedBy(2), claim.renew(), claim.remainingWait(), claim.fair());
		SimulatedStore.Factory store = (simulation) -> new PlantedStore(simulation, shorter, UnaryOperator.identity(),
				List.of());
		assertThat(Simulations.of("planted", store).find(10 * SEEDS, "lock-delay")).isPositive();
	}

	@Test
	void claimThatOvertakesAnEarlierOneIsFound() {
		UnaryOperator<Claim> unfair = (claim) -> new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(),
				claim.renew(), claim.remainingWait(), false);
		SimulatedStore.Factory store = (simulation) -> new PlantedStore(simulation, unfair, UnaryOperator.identity(),
				List.of());
		assertThat(Simulations.of("planted", store).find(SEEDS, "order")).isPositive();
	}

	@Test
	void lossWithoutAFaultIsFound() {
		Mutant mutant = new Mutant().skip("engine.Watchdog#renew");
		assertThat(mutant.find(AtomicStore.class, SEEDS, "health")).isPositive();
	}

	@Test
	void handOverOfALostLockIsFound() {
		Mutant mutant = new Mutant().skip("engine.Hold#requireHeldAtStart");
		assertThat(mutant.find(AtomicStore.class, 10 * SEEDS, "start")).isPositive();
	}

	@Test
	void taskThatFailsIsFound() {
		Simulation simulation = new Simulation(1, History.discarded());
		simulation.server("server").execute(() -> {
			throw new IllegalStateException("planted");
		});
		simulation.runUntil(simulation.now() + 1_000_000_000L);
		assertThat(simulation.checks().violation()).isNotNull().extracting(Violation::check).isEqualTo("task");
	}

	@Test
	void failureIsExplainedByItsHistory() {
		SimulatedStore.Factory store = (simulation) -> new PlantedStore(simulation, UnaryOperator.identity(),
				(grant) -> new Grant(grant.claim(), 1, grant.lease()), List.of());
		Failure failure = Simulations.of("planted", store).find(1, SEEDS).orElseThrow();
		assertThat(failure.explanation()).contains("seed " + failure.seed())
			.contains("The smallest plan found")
			.contains("asks for the lock")
			.contains("VIOLATION of '%s'".formatted(failure.violation().check()))
			.contains("-Dsimulation.store=planted -Dsimulation.seed=" + failure.seed());
	}

	private static long grants(String check, UnaryOperator<Grant> change) {
		SimulatedStore.Factory store = (simulation) -> new PlantedStore(simulation, UnaryOperator.identity(), change,
				List.of());
		return Simulations.of("planted", store).find(SEEDS, check);
	}

	/** A sound store except for the planted defect. */
	private record PlantedStore(SimulatedStore sound, UnaryOperator<Claim> ask, UnaryOperator<Grant> change,
			Collection<String> left) implements SimulatedStore {

		PlantedStore(Simulation simulation, UnaryOperator<Claim> ask, UnaryOperator<Grant> change,
				Collection<String> left) {
			this(new AtomicStore(simulation), ask, change, left);
		}

		@Override
		public LockBackend connect(SimulatedProcess process) {
			return new ForwardingBackend(this.sound.connect(process)) {

				@Override
				public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
					return super.tryAcquire(PlantedStore.this.ask.apply(claim))
						.thenApply((answer) -> (answer instanceof AcquireResult.Acquired it)
								? new AcquireResult.Acquired(planted(claim, it.grant())) : answer);
				}

			};
		}

		private Grant planted(Claim claim, Grant grant) {
			return this.change.apply(new Grant(claim, grant.storeToken(), claim.leaseTime()));
		}

		@Override
		public Collection<String> leftovers() {
			return this.left;
		}

	}

}
