package io.holdfast.lock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Operations on stages that several packages need.
 */
public final class Stages {

	private Stages() {
	}

	/**
	 * Starts asynchronous work.
	 * @param work returns the stage of the work
	 * @param <T> the type of the result
	 * @return the stage, or a failed one if the work throws instead of returning a stage
	 */
	public static <T> CompletionStage<T> attempt(Supplier<? extends CompletionStage<T>> work) {
		return attempt(Supplier::get, work);
	}

	/**
	 * Starts asynchronous work, without a function that captures what the work needs.
	 * @param work returns the stage of the work
	 * @param argument what the work needs
	 * @param <A> the type of the argument
	 * @param <T> the type of the result
	 * @return the stage, or a failed one if the work throws instead of returning a stage
	 */
	public static <A, T> CompletionStage<T> attempt(Function<A, ? extends CompletionStage<T>> work, A argument) {
		try {
			return work.apply(argument);
		}
		catch (Throwable ex) {
			// Kotlin throws checked exceptions undeclared
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Starts asynchronous work that may block first, on a daemon thread of its own.
	 * @param threadName the name of the thread
	 * @param work returns the stage of the work
	 * @param <T> the type of the result
	 * @return completes as the stage does
	 */
	public static <T> CompletionStage<T> attemptOn(String threadName, Supplier<? extends CompletionStage<T>> work) {
		return CompletableFuture.supplyAsync(() -> attempt(work), (task) -> Threads.daemon(threadName, task).start())
			.thenCompose(Function.identity());
	}

	/**
	 * Waits for a stage. An interrupted thread stays interrupted.
	 * @param stage the stage
	 * @param atMost how long to wait at most
	 * @throws ExecutionException if the stage fails, or the thread is interrupted
	 * @throws TimeoutException if the stage has not completed in time
	 */
	public static void await(CompletionStage<?> stage, Duration atMost) throws ExecutionException, TimeoutException {
		try {
			stage.toCompletableFuture().get(atMost.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new ExecutionException(ex);
		}
	}

	/**
	 * Removes the wrappers that futures put around a failure.
	 * @param failure the failure of a stage
	 * @return the original failure
	 */
	public static Throwable cause(Throwable failure) {
		Throwable unwrapped = failure;
		Throwable cause = unwrapped.getCause();
		while (cause != null && (unwrapped instanceof CompletionException || unwrapped instanceof ExecutionException)) {
			unwrapped = cause;
			cause = unwrapped.getCause();
		}
		return unwrapped;
	}

	/**
	 * Completes a future with the outcome of a stage.
	 * @param future the future to complete
	 * @param result the result of the stage
	 * @param failure the failure of the stage, or {@code null} if it succeeded; passed on
	 * without its wrappers
	 * @param <T> the type of the result
	 */
	public static <T extends @Nullable Object> void settle(CompletableFuture<T> future, T result,
			@Nullable Throwable failure) {
		if (failure != null) {
			future.completeExceptionally(cause(failure));
		}
		else {
			future.complete(result);
		}
	}

	/**
	 * Runs an action with the outcome of a stage. If the stage is a future that already
	 * has a result, the action runs immediately and no further stage is created.
	 * @param stage the stage
	 * @param action receives the result or the failure
	 * @param <T> the type of the result
	 */
	public static <T extends @Nullable Object> void whenDone(CompletionStage<T> stage,
			BiConsumer<? super T, ? super @Nullable Throwable> action) {
		if (hasResult(stage)) {
			action.accept(stage.toCompletableFuture().join(), null);
		}
		else {
			stage.whenComplete(action);
		}
	}

	/**
	 * Returns whether a stage is a plain future that already has a result.
	 * @param stage the stage
	 * @return {@code false} for every other stage, which may not say whether it has one
	 */
	public static boolean hasResult(CompletionStage<?> stage) {
		return stage.getClass() == CompletableFuture.class && stage.toCompletableFuture().isDone()
				&& !stage.toCompletableFuture().isCompletedExceptionally();
	}

	/**
	 * Collects the results of several futures.
	 * @param futures the futures
	 * @param <T> the type of a result
	 * @return completes with all results in the order of the futures, or fails if one of
	 * them fails
	 */
	public static <T> CompletableFuture<List<T>> all(List<? extends CompletableFuture<T>> futures) {
		return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
			.thenApply((done) -> futures.stream().map(CompletableFuture::join).toList());
	}

}
