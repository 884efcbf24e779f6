package io.holdfast.lock.engine;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * A future that detects when the caller's code takes its value: immediately before a
 * function of a derived stage runs with it, and when a thread gets it.
 *
 * @param <T> the type of the value
 */
abstract class TakenFuture<T extends @Nullable Object> extends CompletableFuture<T> {

	/**
	 * Records that a value is taken.
	 * @throws java.util.concurrent.CancellationException if it is no longer available
	 */
	abstract <V extends @Nullable Object> V take(V value);

	/** Withdraws the interest of a stage that ends without its function. */
	abstract void withdraw(CompletableFuture<?> stage);

	/**
	 * Returns a stage that may fail without its function: its executor may reject it, or
	 * the stage that it also waits for may fail.
	 */
	private <R extends @Nullable Object> CompletableFuture<R> withdrawingAtFailure(CompletableFuture<R> stage) {
		CompletableFuture.allOf(stage).exceptionally((failure) -> {
			withdraw(stage);
			return null;
		});
		return stage;
	}

	/** Returns a stage that another stage may complete instead of this one. */
	private <R extends @Nullable Object> CompletableFuture<R> withdrawingAtEnd(CompletableFuture<R> stage) {
		CompletableFuture.allOf(stage).whenComplete((done, failure) -> withdraw(stage));
		return stage;
	}

	private <V, R> Function<V, R> taking(Function<? super V, ? extends R> fn) {
		Objects.requireNonNull(fn);
		return (value) -> fn.apply(take(value));
	}

	private <V> Consumer<V> taking(Consumer<? super V> action) {
		Objects.requireNonNull(action);
		return (value) -> action.accept(take(value));
	}

	private <V, W, R> BiFunction<V, W, R> taking(BiFunction<? super V, ? super W, ? extends R> fn) {
		Objects.requireNonNull(fn);
		return (value, other) -> fn.apply(take(value), other);
	}

	private <V, W> BiConsumer<V, W> taking(BiConsumer<? super V, ? super W> action) {
		Objects.requireNonNull(action);
		return (value, other) -> action.accept(take(value), other);
	}

	/** Wraps an action that may read this future's value, which then counts as taken. */
	private Runnable taking(Runnable action) {
		Objects.requireNonNull(action);
		return () -> {
			if (!isCompletedExceptionally()) {
				take(super.getNow(null));
			}
			action.run();
		};
	}

	@Override
	public T join() {
		return take(super.join());
	}

	@Override
	public T get() throws InterruptedException, ExecutionException {
		return take(super.get());
	}

	@Override
	public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
		return take(super.get(timeout, unit));
	}

	@Override
	public T getNow(T absent) {
		return take(super.getNow(absent));
	}

	@Override
	public <U> CompletableFuture<U> thenApply(Function<? super T, ? extends U> fn) {
		return super.thenApply(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> thenApplyAsync(Function<? super T, ? extends U> fn) {
		return super.thenApplyAsync(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> thenApplyAsync(Function<? super T, ? extends U> fn, Executor executor) {
		return withdrawingAtFailure(super.thenApplyAsync(taking(fn), executor));
	}

	@Override
	public CompletableFuture<Void> thenAccept(Consumer<? super T> action) {
		return super.thenAccept(taking(action));
	}

	@Override
	public CompletableFuture<Void> thenAcceptAsync(Consumer<? super T> action) {
		return super.thenAcceptAsync(taking(action));
	}

	@Override
	public CompletableFuture<Void> thenAcceptAsync(Consumer<? super T> action, Executor executor) {
		return withdrawingAtFailure(super.thenAcceptAsync(taking(action), executor));
	}

	@Override
	public CompletableFuture<Void> thenRun(Runnable action) {
		return super.thenRun(taking(action));
	}

	@Override
	public CompletableFuture<Void> thenRunAsync(Runnable action) {
		return super.thenRunAsync(taking(action));
	}

	@Override
	public CompletableFuture<Void> thenRunAsync(Runnable action, Executor executor) {
		return withdrawingAtFailure(super.thenRunAsync(taking(action), executor));
	}

	@Override
	public <U> CompletableFuture<U> thenCompose(Function<? super T, ? extends CompletionStage<U>> fn) {
		return super.thenCompose(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> thenComposeAsync(Function<? super T, ? extends CompletionStage<U>> fn) {
		return super.thenComposeAsync(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> thenComposeAsync(Function<? super T, ? extends CompletionStage<U>> fn,
			Executor executor) {
		return withdrawingAtFailure(super.thenComposeAsync(taking(fn), executor));
	}

	@Override
	public <U> CompletableFuture<U> handle(BiFunction<? super T, Throwable, ? extends U> fn) {
		return super.handle(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> handleAsync(BiFunction<? super T, Throwable, ? extends U> fn) {
		return super.handleAsync(taking(fn));
	}

	@Override
	public <U> CompletableFuture<U> handleAsync(BiFunction<? super T, Throwable, ? extends U> fn, Executor executor) {
		return withdrawingAtFailure(super.handleAsync(taking(fn), executor));
	}

	@Override
	public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
		return super.whenComplete(taking(action));
	}

	@Override
	public CompletableFuture<T> whenCompleteAsync(BiConsumer<? super T, ? super Throwable> action) {
		return super.whenCompleteAsync(taking(action));
	}

	@Override
	public CompletableFuture<T> whenCompleteAsync(BiConsumer<? super T, ? super Throwable> action, Executor executor) {
		return withdrawingAtFailure(super.whenCompleteAsync(taking(action), executor));
	}

	@Override
	public <U, V> CompletableFuture<V> thenCombine(CompletionStage<? extends U> other,
			BiFunction<? super T, ? super U, ? extends V> fn) {
		return withdrawingAtFailure(super.thenCombine(other, taking(fn)));
	}

	@Override
	public <U, V> CompletableFuture<V> thenCombineAsync(CompletionStage<? extends U> other,
			BiFunction<? super T, ? super U, ? extends V> fn) {
		return withdrawingAtFailure(super.thenCombineAsync(other, taking(fn)));
	}

	@Override
	public <U, V> CompletableFuture<V> thenCombineAsync(CompletionStage<? extends U> other,
			BiFunction<? super T, ? super U, ? extends V> fn, Executor executor) {
		return withdrawingAtFailure(super.thenCombineAsync(other, taking(fn), executor));
	}

	@Override
	public <U> CompletableFuture<Void> thenAcceptBoth(CompletionStage<? extends U> other,
			BiConsumer<? super T, ? super U> action) {
		return withdrawingAtFailure(super.thenAcceptBoth(other, taking(action)));
	}

	@Override
	public <U> CompletableFuture<Void> thenAcceptBothAsync(CompletionStage<? extends U> other,
			BiConsumer<? super T, ? super U> action) {
		return withdrawingAtFailure(super.thenAcceptBothAsync(other, taking(action)));
	}

	@Override
	public <U> CompletableFuture<Void> thenAcceptBothAsync(CompletionStage<? extends U> other,
			BiConsumer<? super T, ? super U> action, Executor executor) {
		return withdrawingAtFailure(super.thenAcceptBothAsync(other, taking(action), executor));
	}

	@Override
	public CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable action) {
		return withdrawingAtFailure(super.runAfterBoth(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> runAfterBothAsync(CompletionStage<?> other, Runnable action) {
		return withdrawingAtFailure(super.runAfterBothAsync(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> runAfterBothAsync(CompletionStage<?> other, Runnable action, Executor executor) {
		return withdrawingAtFailure(super.runAfterBothAsync(other, taking(action), executor));
	}

	@Override
	public <U> CompletableFuture<U> applyToEither(CompletionStage<? extends T> other, Function<? super T, U> fn) {
		return withdrawingAtEnd(super.applyToEither(other, taking(fn)));
	}

	@Override
	public <U> CompletableFuture<U> applyToEitherAsync(CompletionStage<? extends T> other, Function<? super T, U> fn) {
		return withdrawingAtEnd(super.applyToEitherAsync(other, taking(fn)));
	}

	@Override
	public <U> CompletableFuture<U> applyToEitherAsync(CompletionStage<? extends T> other, Function<? super T, U> fn,
			Executor executor) {
		return withdrawingAtEnd(super.applyToEitherAsync(other, taking(fn), executor));
	}

	@Override
	public CompletableFuture<Void> acceptEither(CompletionStage<? extends T> other, Consumer<? super T> action) {
		return withdrawingAtEnd(super.acceptEither(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> acceptEitherAsync(CompletionStage<? extends T> other, Consumer<? super T> action) {
		return withdrawingAtEnd(super.acceptEitherAsync(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> acceptEitherAsync(CompletionStage<? extends T> other, Consumer<? super T> action,
			Executor executor) {
		return withdrawingAtEnd(super.acceptEitherAsync(other, taking(action), executor));
	}

	@Override
	public CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable action) {
		return withdrawingAtEnd(super.runAfterEither(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> runAfterEitherAsync(CompletionStage<?> other, Runnable action) {
		return withdrawingAtEnd(super.runAfterEitherAsync(other, taking(action)));
	}

	@Override
	public CompletableFuture<Void> runAfterEitherAsync(CompletionStage<?> other, Runnable action, Executor executor) {
		return withdrawingAtEnd(super.runAfterEitherAsync(other, taking(action), executor));
	}

}
