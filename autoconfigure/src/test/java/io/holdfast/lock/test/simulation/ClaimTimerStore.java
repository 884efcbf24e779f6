package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * A store with a defect that real backends once had. Each client withdraws a refused
 * claim with its own timer, although the store may grant that claim at the same time.
 */
public class ClaimTimerStore implements SimulatedStore {

	private static final long GRACE = TimeUnit.SECONDS.toNanos(1);

	private final SimulatedStore sound;

	/**
	 * Creates an empty {@link AtomicStore} with this defect.
	 * @param simulation the simulated run
	 */
	public ClaimTimerStore(Simulation simulation) {
		this(new AtomicStore(simulation));
	}

	/**
	 * Adds this defect to a store.
	 * @param sound the store without the defect
	 */
	protected ClaimTimerStore(SimulatedStore sound) {
		this.sound = sound;
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		return new Client(process, this.sound.connect(process));
	}

	@Override
	public Collection<String> leftovers() {
		return this.sound.leftovers();
	}

	@Override
	public Duration longestLease() {
		return this.sound.longestLease();
	}

	@Override
	public int timersPerProcess() {
		return this.sound.timersPerProcess();
	}

	private static final class Client extends ForwardingBackend {

		private final SimulatedProcess process;

		private final Map<OwnerId, Runnable> timers = new HashMap<>();

		Client(SimulatedProcess process, LockBackend store) {
			super(store);
			this.process = process;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).whenComplete((answer, failure) -> {
				cancelTimer(claim);
				if (answer instanceof AcquireResult.Contended && !claim.remainingWait().isZero()) {
					this.timers.put(claim.owner(),
							this.process.after(claim.remainingWait().toNanos() + GRACE, () -> abandonRefused(claim)));
				}
			});
		}

		private void abandonRefused(Claim claim) {
			this.process.record("the backend's timer ends the claim for " + claim.lock());
			super.abandon(claim);
		}

		private void cancelTimer(Claim claim) {
			Runnable timer = this.timers.remove(claim.owner());
			if (timer != null) {
				timer.run();
			}
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			cancelTimer(grant.claim());
			return super.release(grant);
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			cancelTimer(claim);
			return super.abandon(claim);
		}

	}

}
