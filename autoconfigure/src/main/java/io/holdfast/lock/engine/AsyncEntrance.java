package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * How a caller that must not be blocked comes to its holds. They belong to their handle
 * and to no thread, so nothing is entered again. One of these serves one request.
 */
final class AsyncEntrance {

	private final EngineContext context;

	private final Iterator<Terms> ahead;

	private final Refusal refusal;

	private final long deadline;

	private final List<Hold> holds = new ArrayList<>(1);

	private final CompletableFuture<HeldLocks> result = new CompletableFuture<>();

	private volatile @Nullable Acquisition underWay;

	AsyncEntrance(EngineContext context, List<Terms> all, Refusal refusal) {
		this.context = context;
		this.ahead = all.iterator();
		this.refusal = refusal;
		this.deadline = context.time().nanos() + all.get(0).waitTime().toNanos();
	}

	/**
	 * All locks or none, one after another.
	 * @return the hold; to cancel it withdraws what is under way
	 */
	CompletableFuture<HeldLocks> hold() {
		this.result.whenComplete((held, failure) -> {
			Acquisition acquisition = this.underWay;
			if (this.result.isCancelled() && acquisition != null) {
				acquisition.cancel();
			}
		});
		next();
		return this.result;
	}

	private void next() {
		if (!this.ahead.hasNext()) {
			if (!this.result.complete(CombinedHold.of(this.holds))) {
				CombinedHold.close(this.holds);
			}
			return;
		}
		Terms terms = this.ahead.next().withWaitTime(this.deadline - this.context.time().nanos());
		Acquisition acquisition = new Acquisition(this.context, terms, this.refusal, null,
				new SerialExecutor(this.context.workers()));
		this.underWay = acquisition;
		acquisition.outcome().whenComplete(this::arrived);
		acquisition.begin();
	}

	private void arrived(@Nullable Lease lease, @Nullable Throwable failure) {
		if (lease != null) {
			this.holds.add(new Hold(this.context, lease));
		}
		if (failure == null && !this.result.isDone()) {
			next();
			return;
		}
		CombinedHold.close(this.holds);
		if (failure != null) {
			this.result.completeExceptionally(failure);
		}
	}

}
