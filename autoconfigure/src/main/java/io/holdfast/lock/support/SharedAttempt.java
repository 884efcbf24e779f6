package io.holdfast.lock.support;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Asynchronous work that has to succeed only once, such as connecting. Concurrent callers
 * share one attempt, and the first caller after a failed attempt starts another one.
 * Thread-safe.
 *
 * @param <T> the type of the result
 */
public final class SharedAttempt<T> {

	private final AtomicReference<@Nullable CompletableFuture<T>> latest = new AtomicReference<>();

	private final Supplier<? extends CompletionStage<T>> work;

	/**
	 * Creates an attempt. Starts nothing.
	 * @param work starts the work; called again only after it has failed
	 */
	public SharedAttempt(Supplier<? extends CompletionStage<T>> work) {
		this.work = work;
	}

	/**
	 * Returns the latest attempt. Starts one if there is none or if it has failed.
	 * @return the attempt
	 */
	public CompletionStage<T> get() {
		CompletableFuture<T> present = this.latest.get();
		if (present != null && !present.isCompletedExceptionally()) {
			return present;
		}
		CompletableFuture<T> fresh = new CompletableFuture<>();
		if (!this.latest.compareAndSet(present, fresh)) {
			return get();
		}
		Stages.attempt(this.work).whenComplete((result, failure) -> Stages.settle(fresh, result, failure));
		return fresh;
	}

	/**
	 * Returns whether an attempt has succeeded.
	 * @return whether {@link #get()} returns a result without waiting
	 */
	public boolean hasSucceeded() {
		CompletableFuture<T> present = this.latest.get();
		return present != null && present.isDone() && !present.isCompletedExceptionally();
	}

}
