package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The first try of a request for several locks: all are asked for at the same moment, so
 * that together they take no longer than one.
 *
 * <p>
 * Nobody waits here, and whoever waits later must not hold a lock that comes after the
 * one it waits for, or two callers could wait for each other. So of the locks that were
 * granted only those before the first refusal are kept; the others are let go.
 */
final class ParallelFirstAttempt {

	private final EngineContext context;

	private final List<Acquisition> acquisitions;

	ParallelFirstAttempt(EngineContext context, List<ResolvedRequest> all, Supplier<Executor> executor, RequestSender requests) {
		this.context = context;
		this.acquisitions = all.stream()
			.map((terms) -> new Acquisition(context, terms, Refusal.TENTATIVE, executor.get(), requests))
			.toList();
	}

	/**
	 * Whether to ask for all at once. Not at a store that blocks, which is asked one by
	 * one anyway. Not with {@code minHold}, since a grant that is not kept would leave
	 * its lock closed. And not with a wait shorter than an answer may take: of several
	 * callers each could get a part and be gone before the others have given up theirs.
	 * In the global order, the one that gets farthest gets all.
	 */
	static boolean saves(List<ResolvedRequest> all, EngineSettings settings) {
		ResolvedRequest first = all.get(0);
		return all.size() > 1 && first.minHold().isZero() && !first.backend().capabilities().blocking()
				&& first.waitTime().compareTo(settings.responseTimeout()) >= 0;
	}

	/** The holds that are kept, in the order of the request; to be called once. */
	CompletableFuture<List<Hold>> begin() {
		List<CompletableFuture<@Nullable Lease>> leases = this.acquisitions.stream()
			.map((acquisition) -> acquisition.outcome().<@Nullable Lease>handle((lease, refusal) -> lease))
			.toList();
		this.acquisitions.forEach(Acquisition::begin);
		return CompletableFuture.allOf(leases.toArray(CompletableFuture[]::new)).thenApply((done) -> keep(leases));
	}

	private List<Hold> keep(List<CompletableFuture<@Nullable Lease>> leases) {
		List<Hold> kept = new ArrayList<>(leases.size());
		List<Hold> discarded = new ArrayList<>();
		boolean complete = true;
		for (CompletableFuture<@Nullable Lease> outcome : leases) {
			Lease lease = outcome.join();
			complete &= lease != null;
			if (lease != null) {
				(complete ? kept : discarded).add(new Hold(this.context, lease));
			}
		}
		CombinedHold.close(discarded);
		return kept;
	}

	void cancel() {
		this.acquisitions.forEach(Acquisition::cancel);
	}

}
