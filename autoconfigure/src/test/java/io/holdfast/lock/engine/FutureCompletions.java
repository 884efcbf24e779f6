package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.params.provider.Arguments;

/**
 * Ways in which a caller can complete a future from outside.
 */
final class FutureCompletions {

	private FutureCompletions() {
	}

	static Stream<Arguments> completions() {
		return Stream.of(completion("cancel", (future) -> future.cancel(false)),
				completion("completeExceptionally",
						(future) -> future.completeExceptionally(new TimeoutException("enough"))),
				completion("complete", (future) -> future.complete(null)), completion("orTimeout", (future) -> {
					future.orTimeout(1, TimeUnit.NANOSECONDS);
					awaitCompletion(future);
				}), completion("completeOnTimeout", (future) -> {
					future.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
					awaitCompletion(future);
				}), completion("completeAsync", (future) -> future.completeAsync(() -> null, Runnable::run)),
				completion("a derived stage", (future) -> {
					CompletableFuture<?> derived = future.thenApply((value) -> value).thenApply((value) -> value);
					derived.completeExceptionally(new TimeoutException("enough"));
				}));
	}

	private static Arguments completion(String name, Consumer<CompletableFuture<?>> completion) {
		return Arguments.of(name, completion);
	}

	private static void awaitCompletion(CompletableFuture<?> future) {
		future.exceptionally((failure) -> null).join();
	}

}
