package io.holdfast.lock.engine;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for acquisitions on a thread of Reactor that must not block.
 */
class NonBlockingThreadTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 42);

	@AutoClose
	private final LockEngine engine = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	static Stream<Named<Call>> blockingCalls() {
		return Stream.of(Named.of("acquire", (locks) -> locks.acquire(REQUEST)),
				Named.of("tryAcquire", (locks) -> locks.tryAcquire(REQUEST)),
				Named.of("execute", (locks) -> locks.execute(REQUEST, (handle) -> "done")), Named.of("executeOrElse",
						(locks) -> locks.executeOrElse(REQUEST, (handle) -> "done", (reason) -> "not")));
	}

	@ParameterizedTest
	@MethodSource("blockingCalls")
	void blockingCallIsRejected(Call call) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> onEventLoop(() -> call.run(this.engine)))
			.withMessageContaining("Lock 'stock:42' was not acquired: thread 'parallel-")
			.withMessageContaining("must not block")
			.withMessageContaining("'executeAsync'");
		assertThat(this.engine.context().queues().size()).isZero();
		assertThat(this.engine.context().registry().held()).isEmpty();
	}

	@Test
	void asynchronousCallIsNot() {
		CompletableFuture<String> result = onEventLoop(
				() -> this.engine.executeAsync(REQUEST, (handle) -> CompletableFuture.completedFuture("done"))
					.toCompletableFuture());
		assertThat(result.join()).isEqualTo("done");
	}

	@Test
	void threadForBlockingWorkMayWait() {
		String result = Mono.fromCallable(() -> this.engine.execute(REQUEST, (handle) -> "done"))
			.subscribeOn(Schedulers.boundedElastic())
			.block();
		assertThat(result).isEqualTo("done");
	}

	private static <T> T onEventLoop(Callable<T> call) {
		try {
			return Mono.fromCallable(call).subscribeOn(Schedulers.parallel()).toFuture().join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	/** A call of a blocking method. */
	interface Call {

		Object run(LockOperations locks) throws Exception;

	}

}
