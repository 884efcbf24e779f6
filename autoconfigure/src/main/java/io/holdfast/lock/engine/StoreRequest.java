package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A request that may have to wait for a thread, or for its turn at the store, before it
 * is sent. It is sent once or withdrawn, by one atomic decision. It is over when it is
 * answered or no longer waited for.
 *
 * @param <T> the answer
 */
final class StoreRequest<T> {

	private final SchedulingClock time;

	private final Supplier<? extends CompletionStage<T>> question;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	private final CompletableFuture<Void> over = new CompletableFuture<>();

	/** Completes with whether it is sent: not if it was withdrawn before. */
	private final CompletableFuture<Boolean> sent = new CompletableFuture<>();

	private volatile long sentAt;

	StoreRequest(SchedulingClock time, Supplier<? extends CompletionStage<T>> question) {
		this.time = time;
		this.question = question;
	}

	/**
	 * Sends the request unless it was withdrawn.
	 * @return whether it was sent now
	 */
	boolean send() {
		if (!this.sent.complete(true)) {
			return false;
		}
		this.sentAt = this.time.nanos();
		Stages.ask(this.question).whenComplete((value, failure) -> {
			Stages.settle(this.answer, value, failure);
			this.over.complete(null);
		});
		return true;
	}

	/**
	 * Stops waiting for the answer, and withdraws the request unless it was sent. An
	 * answer that still arrives is passed on.
	 * @return whether it will never be sent
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

	/** Whether it was sent, unless it was withdrawn. */
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

	/** When it was sent; known once it is answered. */
	long sentAt() {
		return this.sentAt;
	}

	/** The answer; never completes if the request is withdrawn. */
	CompletableFuture<T> answer() {
		return this.answer;
	}

}
