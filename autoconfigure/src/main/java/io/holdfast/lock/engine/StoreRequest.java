package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A request that may have to wait for a thread before it is sent. It is sent once or
 * withdrawn, by one atomic decision.
 *
 * @param <T> the answer
 */
final class StoreRequest<T> implements Runnable {

	private final SchedulingClock time;

	private final Supplier<? extends CompletionStage<T>> question;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	private final AtomicBoolean decided = new AtomicBoolean();

	private volatile long sentAt;

	StoreRequest(SchedulingClock time, Supplier<? extends CompletionStage<T>> question) {
		this.time = time;
		this.question = question;
	}

	/** Sends the request unless it was withdrawn. */
	@Override
	public void run() {
		if (this.decided.compareAndSet(false, true)) {
			this.sentAt = this.time.nanos();
			Answers.ask(this.question).whenComplete((value, failure) -> Answers.settle(this.answer, value, failure));
		}
	}

	/**
	 * Withdraws the request unless it was sent.
	 * @return whether it will never be sent
	 */
	boolean withdraw() {
		return this.decided.compareAndSet(false, true);
	}

	/** Whether it was sent, unless it was withdrawn. */
	boolean isSent() {
		return this.decided.get();
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
