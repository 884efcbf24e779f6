package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.Stages;

/**
 * Future of an asynchronous acquisition. Any completion by the caller (cancellation, a
 * timeout, a value) withdraws the acquisition. So does completing a derived stage, unless
 * another derived stage still waits: the lock would reach no code of the caller. A lock
 * that was granted meanwhile is released, unless a function of a stage has started to run
 * with it.
 *
 * @param <T> the type of the value
 */
final class WithdrawableFuture<T extends @Nullable Object> extends TakenFuture<T> {

	private final Runnable withdraw;

	private final AsyncResults.Receipt receipt;

	private final AtomicBoolean withdrawn = new AtomicBoolean();

	/** Number of derived stages that the caller has not completed. */
	private final AtomicInteger derived = new AtomicInteger();

	/**
	 * Creates a future.
	 * @param withdraw withdraws the acquisition; called at most once
	 * @param receipt tracks whether the granted value has reached the caller
	 */
	WithdrawableFuture(Runnable withdraw, AsyncResults.Receipt receipt) {
		this.withdraw = withdraw;
		this.receipt = receipt;
	}

	/** Completes this with the outcome of the acquisition. */
	void settle(@Nullable T value, @Nullable Throwable failure) {
		if (failure != null) {
			super.completeExceptionally(failure);
		}
		else {
			super.complete(value);
		}
	}

	@Override
	<V extends @Nullable Object> V take(V value) {
		return this.receipt.take(value);
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		this.derived.incrementAndGet();
		return new WithdrawableFuture<>(this::derivedEnded, this.receipt);
	}

	/** Counts as a waiting stage, because the stages derived from it are unknown. */
	@Override
	public CompletionStage<T> minimalCompletionStage() {
		this.derived.incrementAndGet();
		return super.minimalCompletionStage();
	}

	/**
	 * Withdraws a derived stage. The JDK derives the stage from the other future if that
	 * is complete already; nothing then waits for this one.
	 */
	@Override
	void withdraw(CompletableFuture<?> stage) {
		if (stage instanceof WithdrawableFuture<?> derived && derived.receipt == this.receipt) {
			derived.withdraw();
		}
		else if (this.derived.get() == 0) {
			withdrawAsUnused();
		}
	}

	@Override
	public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
		return onTimeout(timeout, unit, (failure) -> completeExceptionally(Stages.cause(failure)));
	}

	@Override
	public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
		return onTimeout(timeout, unit, (failure) -> complete(value));
	}

	/**
	 * Starts a timer that counts as no waiting stage, unlike that of the JDK.
	 */
	private CompletableFuture<T> onTimeout(long timeout, TimeUnit unit, Consumer<Throwable> action) {
		CompletableFuture.allOf(this).orTimeout(timeout, unit).exceptionally((failure) -> {
			action.accept(failure);
			return null;
		});
		return this;
	}

	private void derivedEnded() {
		if (this.derived.decrementAndGet() == 0) {
			withdrawAsUnused();
		}
	}

	private void withdrawAsUnused() {
		super.cancel(false);
		withdraw();
	}

	private void withdraw() {
		if (this.withdrawn.compareAndSet(false, true)) {
			this.withdraw.run();
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
	public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
		executor.execute(() -> {
			if (!isDone()) {
				try {
					complete(supplier.get());
				}
				catch (Throwable ex) {
					completeExceptionally(ex);
				}
			}
		});
		return this;
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
			withdraw();
		}
		return ended;
	}

}
