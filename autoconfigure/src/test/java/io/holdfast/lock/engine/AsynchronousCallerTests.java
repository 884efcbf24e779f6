package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for asynchronous callers, including those that complete their futures from
 * outside.
 */
class AsynchronousCallerTests {

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void waitCompletedByTheCallerIsWithdrawn(String name, Consumer<CompletableFuture<?>> end) {
		this.backend.heldByAnother(LOCK);
		end.accept(this.fixture.acquire(request()));
		assertWithdrawn();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void tryCompletedByTheCallerIsWithdrawn(String name, Consumer<CompletableFuture<?>> end) {
		this.backend.heldByAnother(LOCK);
		end.accept(this.fixture.engine.tryAcquireAsync(request().waitTime(Duration.ofSeconds(5)).build())
			.toCompletableFuture());
		assertWithdrawn();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void waitingExecutionCompletedByTheCallerNeverRuns(String name, Consumer<CompletableFuture<?>> end) {
		AtomicInteger runs = new AtomicInteger();
		this.backend.heldByAnother(LOCK);
		end.accept(this.fixture.engine.executeAsync(request().build(), (handle) -> {
			runs.incrementAndGet();
			return CompletableFuture.completedFuture(null);
		}).toCompletableFuture());
		assertWithdrawn();
		assertThat(runs).hasValue(0);
	}

	private void assertWithdrawn() {
		awaitWithdrawal();
		this.backend.freedByAnother(LOCK);
		this.fixture.time.advance(Duration.ofSeconds(10));
		Awaitility.await().untilAsserted(this.fixture::assertNothingLeft);
	}

	/** Waits because a timeout completes the future on a JDK thread. */
	private void awaitWithdrawal() {
		Awaitility.await().until(() -> this.backend.called("abandon stock:42"));
	}

	/** The grant is in flight when the caller completes its future. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void grantAfterCompletionByTheCallerIsWithdrawn(String name, Consumer<CompletableFuture<?>> end) {
		CompletableFuture<Void> granted = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> granted.thenApply((now) -> this.backend.answer(claim)));
		end.accept(this.fixture.acquire(request()));
		awaitWithdrawal();
		granted.complete(null);
		Awaitility.await().untilAsserted(this.fixture::assertNothingLeft);
	}

	@Test
	void completedDerivedStageLeavesOtherStagesWaiting() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		CompletableFuture<LockHandle> other = waiting.thenApply((handle) -> handle);
		waiting.thenApply((handle) -> handle).cancel(false);
		this.backend.freedByAnother(LOCK);
		assertThat(other).isCompleted();
		other.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void futureCompletedAfterTheGrantLeavesTheHandleItsLock() {
		CompletableFuture<LockHandle> acquired = this.fixture.acquire(request());
		acquired.cancel(false);
		CompletableFuture<Optional<LockHandle>> tried = this.fixture.engine
			.tryAcquireAsync(request().waitTime(Duration.ZERO).build())
			.toCompletableFuture();
		assertThat(tried).isCompletedWithValue(Optional.empty());
		assertThat(acquired.join().isHeld()).isTrue();
		acquired.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void runningExecutionKeepsTheLockUntilItsActionHasEnded() {
		CompletableFuture<String> action = new CompletableFuture<>();
		CompletableFuture<String> result = this.fixture.engine.executeAsync(request().build(), (handle) -> action)
			.toCompletableFuture();
		result.cancel(false);
		assertThat(this.backend.owners).containsKey(LOCK);
		assertThat(action).isNotDone();
		action.complete("done");
		this.fixture.assertNothingLeft();
	}

	@Test
	void actionThatReturnsNoStageFailsAndReleasesTheLock() {
		CompletableFuture<Object> result = this.fixture.engine.executeAsync(request().build(), (handle) -> null)
			.toCompletableFuture();
		assertThat(result).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContaining("'stock:42' returned null");
		this.fixture.assertNothingLeft();
	}

	@Test
	void backendThatReturnsNoStageFailsTheAcquisition() {
		assertFailsWith((claim) -> null, "the backend returned null instead of a stage");
	}

	@Test
	void backendThatAnswersNullFailsTheAcquisition() {
		assertFailsWith((claim) -> CompletableFuture.completedFuture(null), "the backend completed with null");
	}

	private void assertFailsWith(Function<Claim, CompletionStage<AcquireResult>> answer, String message) {
		this.backend.acquires.add(answer);
		assertThat(this.fixture.acquire(request())).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContainingAll("'stock:42'", message);
		this.fixture.assertNothingLeft();
	}

	@Test
	void missingRequestIsNamed() {
		LockOperations locks = this.fixture.engine;
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> locks.acquire(null), () -> locks.tryAcquire(null),
				() -> locks.acquireAsync(null), () -> locks.tryAcquireAsync(null))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call)
				.withMessageContaining("The lock request is null");
		}
	}

	@Test
	void executionCompletesAfterItsAwaitedRelease() {
		EngineFixture awaiting = awaitingRelease();
		CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
		awaiting.backend.releases.add((grant) -> {
			awaiting.backend.free(grant.claim());
			return released;
		});
		CompletableFuture<String> result = awaiting.engine
			.executeAsync(request().build(), (handle) -> CompletableFuture.completedFuture("done"))
			.toCompletableFuture();
		assertThat(result).isNotDone();
		released.complete(new ReleaseResult.Released());
		assertThat(result).isCompletedWithValue("done");
		awaiting.assertNothingLeft();
	}

	/** Such a handle may be closed on an event loop. */
	@Test
	void handleThatBelongsToNoThreadIsClosedWithoutWaiting() {
		EngineFixture awaiting = awaitingRelease();
		awaiting.backend.releases.add((grant) -> {
			awaiting.backend.free(grant.claim());
			return new CompletableFuture<>();
		});
		awaiting.acquired(request()).close();
		assertThat(awaiting.backend.calls).endsWith("release stock:42");
		awaiting.time.advance(Duration.ofSeconds(5));
		awaiting.assertNothingLeft();
	}

	/** Nor does the lock stay closed for it, even if the store still keeps it. */
	@Test
	void actionDoesNotStartUnderAHoldThatExpiredInAPause() {
		Queue<Runnable> tasks = new ArrayDeque<>();
		EngineFixture paused = new EngineFixture(EngineSettings.DEFAULTS, TransactionBoundary.NONE, tasks::add);
		AtomicInteger runs = new AtomicInteger();
		CompletableFuture<?> result = paused.engine
			.executeAsync(request().leaseTime(Duration.ofSeconds(10)).minHold(Duration.ofHours(1)).build(),
					(handle) -> CompletableFuture.completedFuture(runs.incrementAndGet()))
			.toCompletableFuture();
		while (paused.engine.context().registry().held().isEmpty()) {
			tasks.remove().run();
		}
		paused.time.pause(Duration.ofSeconds(11));
		while (!tasks.isEmpty()) {
			tasks.remove().run();
		}
		assertThat(runs).hasValue(0);
		assertThat(result).failsWithin(Duration.ZERO)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class)
			.withMessageContainingAll("stock:42", "before the call started");
		paused.time.advance(Duration.ofSeconds(1));
		paused.assertNothingLeft();
	}

	private static EngineFixture awaitingRelease() {
		return new EngineFixture(settings().awaitRelease(true).shutdownTimeout(Duration.ZERO).build(),
				TransactionBoundary.NONE);
	}

}
