package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.Capability;

/**
 * First attempt of a request for several locks. It requests all of them in parallel, so
 * that together they take no longer than one.
 *
 * <p>
 * This attempt does not wait for holders. A caller that waits later must not hold a lock
 * that comes after the awaited one, or two callers could deadlock. Therefore, only the
 * locks before the first rejection are kept, and the other granted locks are released.
 * Observers are not notified of those.
 */
final class ParallelFirstAttempt {

	private final List<Acquisition> acquisitions;

	private final Function<Lease, Hold> toHold;

	ParallelFirstAttempt(EngineContext context, List<ResolvedRequest> all, Supplier<Executor> executor,
			StoreRequest.Sender sender, Function<Lease, Hold> toHold) {
		this.acquisitions = all.stream()
			.map((request) -> new Acquisition(context, request, IfRefused.TRY_LATER, executor.get(), sender))
			.toList();
		this.toHold = toHold;
	}

	/**
	 * Whether a parallel first attempt is useful. Not used with a blocking backend, which
	 * gets its requests one by one anyway. Not used with {@code minHold}: a discarded
	 * grant would keep the lock closed. Not used with a wait shorter than the response
	 * timeout: several callers could each get a part of the locks and time out before the
	 * others release theirs. In the global order, the caller that gets farthest gets all
	 * locks.
	 */
	static boolean saves(List<ResolvedRequest> all, EngineSettings settings) {
		ResolvedRequest first = all.get(0);
		return all.size() > 1 && first.minHold().isZero() && !first.backend().capabilities().has(Capability.BLOCKING)
				&& first.waitTime().compareTo(settings.responseTimeout()) >= 0;
	}

	/**
	 * Starts the attempt. Call it once.
	 * @return the holds that are kept, in the order of the request
	 */
	CompletableFuture<List<Hold>> start() {
		CompletableFuture<?>[] outcomes = this.acquisitions.stream()
			.map(Acquisition::outcome)
			.toArray(CompletableFuture[]::new);
		this.acquisitions.forEach(Acquisition::start);
		return CompletableFuture.allOf(outcomes).thenApply((done) -> keep());
	}

	private List<Hold> keep() {
		List<Hold> kept = new ArrayList<>(this.acquisitions.size());
		List<Lease> discarded = new ArrayList<>();
		boolean complete = true;
		for (Acquisition acquisition : this.acquisitions) {
			Lease lease = (acquisition.outcome().join() instanceof Outcome.Granted<Lease> granted) ? granted.value()
					: null;
			if (complete && lease != null && lease.keep()) {
				kept.add(this.toHold.apply(lease));
			}
			else {
				complete = false;
				if (lease != null) {
					discarded.add(0, lease);
				}
			}
		}
		// a transaction of the caller must not defer this: no code has used these locks
		discarded.forEach(Lease::endHold);
		return kept;
	}

	void cancel() {
		this.acquisitions.forEach(Acquisition::cancel);
	}

}
