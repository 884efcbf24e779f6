package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Sends requests to a store and ensures a result: a response, or the failure to get one.
 */
final class StoreResponses {

	private StoreResponses() {
	}

	/**
	 * Sends a request, and fails with a {@link TimeoutException} if there is no response
	 * in time.
	 * @param call sends the request; should not throw, but may
	 * @param timeoutNanos how long to wait for the response
	 * @param time the engine's clock
	 */
	static <T> CompletableFuture<T> within(Supplier<? extends CompletionStage<T>> call, long timeoutNanos,
			SchedulingClock time) {
		CompletionStage<T> sent = ask(Supplier::get, call);
		if (Stages.hasResult(sent)) {
			return sent.toCompletableFuture();
		}
		CompletableFuture<T> answer = new CompletableFuture<>();
		sent.whenComplete((value, failure) -> Stages.settle(answer, value, failure));
		if (!answer.isDone()) {
			endInTime(answer, timeoutNanos, time);
		}
		return answer;
	}

	private static void endInTime(CompletableFuture<?> answer, long timeoutNanos, SchedulingClock time) {
		try {
			Runnable cancel = time.after(timeoutNanos, () -> answer.completeExceptionally(
					new TimeoutException("No response within " + DurationText.of(Duration.ofNanos(timeoutNanos)))));
			answer.whenComplete((value, failure) -> cancel.run());
		}
		catch (RuntimeException | Error ex) {
			answer.completeExceptionally(ex);
		}
	}

	/**
	 * Sends a request, and fails if that throws or returns no stage.
	 * @param call sends the request; should not throw or return {@code null}, but may
	 * @param argument what the call needs, so that a request creates no function
	 */
	static <A, T> CompletionStage<T> ask(Function<A, ? extends CompletionStage<T>> call, A argument) {
		return ask(call, argument, () -> new IllegalStateException("the backend returned null instead of a stage"));
	}

	/**
	 * Sends a request, and fails if that throws or returns no stage.
	 * @param call sends the request; should not throw or return {@code null}, but may
	 * @param argument what the call needs
	 * @param missing creates the failure if it returns {@code null}
	 */
	static <A, T> CompletionStage<T> ask(Function<A, ? extends @Nullable CompletionStage<T>> call, A argument,
			Supplier<? extends RuntimeException> missing) {
		CompletionStage<T> asked = Stages.attempt(call, argument);
		return (asked != null) ? asked : CompletableFuture.failedFuture(missing.get());
	}

	/**
	 * Returns the original failure, without the wrapper of the future.
	 * @param failure the failure, or {@code null} if the stage completed with
	 * {@code null}
	 */
	static Throwable cause(@Nullable Throwable failure) {
		if (failure == null) {
			return new IllegalStateException("the backend completed with null");
		}
		return Stages.cause(failure);
	}

	/**
	 * Creates the failure for a grant that took longer to arrive than its lease lasts.
	 */
	static IllegalStateException longerThan(Duration lease) {
		return new IllegalStateException(
				"the grant arrived after its lease of " + DurationText.of(lease) + " had expired");
	}

	/**
	 * Creates the failure for an unanswered request, which may not have been sent.
	 * @param timeout the time to respond, which the end of a wait may have shortened
	 */
	static TimeoutException none(boolean sent, long timeout, EngineSettings settings) {
		return new NoAnswerException(sent, timeout >= settings.responseTimeout().toNanos());
	}

	/** Creates the failure for a request that was not sent. */
	static TimeoutException notSent() {
		return new NoAnswerException(false, false);
	}

	/** Signals a missing response, or a request that was not sent in time. */
	static final class NoAnswerException extends TimeoutException {

		private static final long serialVersionUID = 1L;

		/** Whether the failure tells anything of the store. */
		final boolean hadTime;

		NoAnswerException(boolean sent, boolean hadTime) {
			super(sent ? "no response in time" : "too many requests were in progress to send this one in time");
			this.hadTime = sent && hadTime;
		}

	}

}
