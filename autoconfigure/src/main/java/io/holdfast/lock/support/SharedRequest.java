package io.holdfast.lock.support;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A request that is in progress at most once; callers that need it meanwhile share its
 * response. Unlike a {@link SharedAttempt}, it is sent again after it has succeeded.
 * Thread-safe.
 *
 * @param <T> the type of the response
 */
public final class SharedRequest<T extends @Nullable Object> {

	private final AtomicReference<@Nullable CompletableFuture<T>> inProgress = new AtomicReference<>();

	/**
	 * Sends the request unless it is in progress.
	 * @param request sends the request; it has processed the response before the next
	 * request may be sent
	 * @return the response
	 */
	public CompletableFuture<T> send(Supplier<? extends CompletionStage<T>> request) {
		CompletableFuture<T> sent = new CompletableFuture<>();
		CompletableFuture<T> present = this.inProgress.compareAndExchange(null, sent);
		if (present != null) {
			return present;
		}
		Stages.attempt(request).whenComplete((response, failure) -> {
			this.inProgress.set(null);
			Stages.settle(sent, response, failure);
		});
		return sent;
	}

}
