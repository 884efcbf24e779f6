package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * A request that may wait for a thread, or for capacity at the store, before it is sent.
 * One atomic decision either sends it once or withdraws it. The request is over when the
 * response arrives or the caller stops waiting.
 *
 * @param <T> the type of the response
 */
final class StoreRequest<T> {

	private final SchedulingClock time;

	private final Supplier<? extends CompletionStage<T>> call;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	private final CompletableFuture<Void> over = new CompletableFuture<>();

	/** Completes with {@code true} when sent, or with {@code false} when withdrawn. */
	private final CompletableFuture<Boolean> sent = new CompletableFuture<>();

	private volatile long sentAt;

	StoreRequest(SchedulingClock time, Supplier<? extends CompletionStage<T>> call) {
		this.time = time;
		this.call = call;
	}

	/**
	 * Sends the request unless it was withdrawn.
	 * @return whether this call sent it
	 */
	boolean send() {
		if (!this.sent.complete(true)) {
			return false;
		}
		this.sentAt = this.time.nanos();
		StoreResponses.ask(this.call).whenComplete((value, failure) -> {
			Stages.settle(this.answer, value, failure);
			this.over.complete(null);
		});
		return true;
	}

	/**
	 * Stops waiting for the response, and withdraws the request unless it was sent. A
	 * response that still arrives is passed on.
	 * @return whether this call withdrew the request before it was sent
	 */
	boolean withdraw() {
		this.over.complete(null);
		return this.sent.complete(false);
	}

	boolean isOver() {
		return this.over.isDone();
	}

	void whenOver(Runnable action) {
		this.over.thenRun(action);
	}

	/** Whether the request was sent or withdrawn. */
	boolean isSent() {
		return this.sent.isDone();
	}

	void whenSent(Runnable action) {
		this.sent.thenAccept((now) -> {
			if (now) {
				action.run();
			}
		});
	}

	/** Returns when the request was sent; available once it is answered. */
	long sentAt() {
		return this.sentAt;
	}

	/** Returns the response, which never completes if the request is withdrawn. */
	CompletableFuture<T> answer() {
		return this.answer;
	}

	/**
	 * Sends acquisition attempts, immediately or as soon as there is capacity for them.
	 */
	@FunctionalInterface
	interface Sender {

		/**
		 * Sends a request, unless it is withdrawn first.
		 * @param request the request
		 */
		void send(StoreRequest<?> request);

	}

}
