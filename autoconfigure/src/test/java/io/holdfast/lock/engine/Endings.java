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
final class Endings {

	private Endings() {
	}

	static Stream<Arguments> endings() {
		return Stream.of(ending("cancel", (future) -> future.cancel(false)),
				ending("completeExceptionally",
						(future) -> future.completeExceptionally(new TimeoutException("enough"))),
				ending("complete", (future) -> future.complete(null)), ending("orTimeout", (future) -> {
					future.orTimeout(1, TimeUnit.NANOSECONDS);
					awaitEnd(future);
				}), ending("completeOnTimeout", (future) -> {
					future.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
					awaitEnd(future);
				}), ending("completeAsync", (future) -> future.completeAsync(() -> null, Runnable::run)),
				ending("a derived stage", (future) -> {
					CompletableFuture<?> derived = future.thenApply((value) -> value).thenApply((value) -> value);
					derived.completeExceptionally(new TimeoutException("enough"));
				}));
	}

	private static Arguments ending(String name, Consumer<CompletableFuture<?>> ending) {
		return Arguments.of(name, ending);
	}

	private static void awaitEnd(CompletableFuture<?> future) {
		future.exceptionally((failure) -> null).join();
	}

}
