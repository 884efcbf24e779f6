package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * Adds the engine's timers to a session-bound backend, which has none of its own. They
 * release a lease that is not renewed when it expires, and withdraw a refused claim when
 * its wait time has elapsed.
 */
final class EngineTimers extends ForwardingBackend {

	/** The latest timer of each owner. An earlier timer has no effect. */
	private final Map<OwnerId, Object> timers = new ConcurrentHashMap<>();

	private EngineTimers(LockBackend store) {
		super(store);
	}

	/** Returns the backend itself if its store expires leases on its own. */
	static LockBackend around(LockBackend store) {
		return store.capabilities().has(Capability.SESSION_BOUND) ? new EngineTimers(store) : store;
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		this.timers.remove(claim.owner());
		return super.tryAcquire(claim).thenApply((result) -> {
			if (result instanceof AcquireResult.Acquired acquired && !claim.renew()) {
				after(acquired.grant().lease(), claim, () -> super.release(acquired.grant()));
			}
			else if (result instanceof AcquireResult.Contended && !claim.remainingWait().isZero()) {
				after(claim.remainingWait(), claim, () -> super.abandon(claim));
			}
			return result;
		});
	}

	private void after(Duration delay, Claim claim, Runnable task) {
		Object timer = new Object();
		this.timers.put(claim.owner(), timer);
		CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS).execute(() -> {
			if (this.timers.remove(claim.owner(), timer)) {
				task.run();
			}
		});
	}

	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		this.timers.remove(grant.claim().owner());
		return super.retain(grant, remaining);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		this.timers.remove(grant.claim().owner());
		return super.release(grant);
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		this.timers.remove(claim.owner());
		return super.abandon(claim);
	}

}
