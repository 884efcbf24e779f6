package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

/**
 * Acquires locks without blocking the caller. The holds belong to their handle and not to
 * a thread, so they are not reentrant. Each instance serves one request.
 */
final class AsyncAcquirer {

	private final EngineContext context;

	private final TransactionBoundary boundary;

	private final Workers workers;

	private final Function<Lease, Hold> toHold;

	private final List<ResolvedRequest> all;

	private final IfRefused ifRefused;

	private final long deadline;

	/** Sends attempts, apart from the steps, because no backend may block those. */
	private final StoreRequest.Sender sender;

	private final List<Hold> holds;

	private final CompletableFuture<Outcome<HeldLocks>> result = new CompletableFuture<>();

	private volatile @Nullable Runnable cancelUnderWay;

	/**
	 * Creates an acquirer.
	 * @param toHold creates a hold of a new lease
	 */
	AsyncAcquirer(EngineContext context, TransactionBoundary boundary, Workers workers, Function<Lease, Hold> toHold,
			List<ResolvedRequest> all, IfRefused ifRefused) {
		this.context = context;
		this.boundary = boundary;
		this.workers = workers;
		this.toHold = toHold;
		this.all = all;
		this.holds = new ArrayList<>(all.size());
		this.ifRefused = ifRefused;
		this.sender = workers.attempts(all.get(0).backend());
		this.deadline = context.time().nanos() + all.get(0).waitTime().toNanos();
	}

	/**
	 * Acquires all locks or none. A parallel first attempt comes first where it is
	 * useful. The remaining locks follow one after another.
	 * @return the hold; cancelling it cancels the acquisition in progress
	 */
	CompletableFuture<Outcome<HeldLocks>> hold() {
		try {
			this.all.forEach((request) -> this.boundary.beforeAcquireAsync(request.lock()));
		}
		catch (LockException ex) {
			return CompletableFuture.completedFuture(new Outcome.Failed<>(() -> ex));
		}
		return start();
	}

	private CompletableFuture<Outcome<HeldLocks>> start() {
		LockBackend backend = this.all.get(0).backend();
		if (!this.workers.acquisitionStarts(backend)) {
			return CompletableFuture.completedFuture(new Outcome.Failed<>(
					() -> AcquisitionFailures.tooMany(this.all.get(0), Workers.MOST_ACQUISITIONS)));
		}
		this.result.whenComplete((held, failure) -> {
			this.workers.acquisitionEnds(backend);
			Runnable cancel = this.cancelUnderWay;
			if (this.result.isCancelled() && cancel != null) {
				cancel.run();
			}
		});
		if (ParallelFirstAttempt.saves(this.all, this.context.settings())) {
			attemptInParallel();
		}
		else {
			next();
		}
		return this.result;
	}

	private Executor steps() {
		return new StepScheduler.SerialExecutor(this.workers.steps());
	}

	private void attemptInParallel() {
		ParallelFirstAttempt ahead = new ParallelFirstAttempt(this.context, this.all, this::steps, this.sender,
				this.toHold);
		this.cancelUnderWay = ahead::cancel;
		ahead.start().thenAccept((kept) -> {
			this.holds.addAll(kept);
			proceed();
		});
	}

	private void next() {
		if (this.holds.size() == this.all.size()) {
			deliver();
			return;
		}
		ResolvedRequest request = this.all.get(this.holds.size())
			.withWaitTime(this.deadline - this.context.time().nanos());
		Acquisition acquisition = new Acquisition(this.context, request, this.ifRefused, steps(), this.sender);
		this.cancelUnderWay = acquisition::cancel;
		acquisition.outcome().thenAccept(this::arrived);
		acquisition.start();
		if (this.result.isDone()) {
			acquisition.cancel();
		}
	}

	private void deliver() {
		try {
			if (!this.result.complete(new Outcome.Granted<>(CombinedHold.of(this.holds)))) {
				CombinedHold.discard(this.holds);
			}
		}
		catch (LockLostException ex) {
			CombinedHold.discard(this.holds);
			this.result.complete(new Outcome.Failed<>(() -> ex));
		}
	}

	private void arrived(Outcome<Lease> outcome) {
		if (outcome instanceof Outcome.Granted<Lease> granted) {
			this.holds.add(this.toHold.apply(granted.value()));
			proceed();
			return;
		}
		CombinedHold.discard(this.holds);
		this.result.complete(outcome.map(this.toHold));
	}

	private void proceed() {
		if (this.result.isDone()) {
			CombinedHold.discard(this.holds);
		}
		else {
			next();
		}
	}

}
