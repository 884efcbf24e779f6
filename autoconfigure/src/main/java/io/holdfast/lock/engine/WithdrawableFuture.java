package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * The future of an asynchronous acquisition. Whatever its caller completes it with
 * (cancellation, a timeout, a value) withdraws the acquisition. So does completing a
 * stage that is derived from it, unless another derived stage still waits: nobody would
 * receive the lock.
 *
 * @param <T> what it is completed with
 */
final class WithdrawableFuture<T extends @Nullable Object> extends CompletableFuture<T> {

	private final Runnable withdraw;

	/** The derived stages that the caller has not completed. */
	private final AtomicInteger derived = new AtomicInteger();

	WithdrawableFuture(Runnable withdraw) {
		this.withdraw = withdraw;
	}

	/**
	 * Completes this with the outcome of the acquisition.
	 * @return whether this was not completed before
	 */
	boolean settle(@Nullable T value, @Nullable Throwable failure) {
		return (failure != null) ? super.completeExceptionally(failure) : super.complete(value);
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		this.derived.incrementAndGet();
		return new WithdrawableFuture<>(this::derivedEnded);
	}

	private void derivedEnded() {
		if (this.derived.decrementAndGet() == 0) {
			cancel(false);
		}
	}

	@Override
	public boolean complete(T value) {
		return endedByCaller(super.complete(value));
	}

	@Override
	public boolean completeExceptionally(Throwable failure) {
		return endedByCaller(super.completeExceptionally(failure));
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean before = isDone();
		boolean cancelled = super.cancel(mayInterruptIfRunning);
		endedByCaller(!before && cancelled);
		return cancelled;
	}

	private boolean endedByCaller(boolean ended) {
		if (ended) {
			this.withdraw.run();
		}
		return ended;
	}

}
