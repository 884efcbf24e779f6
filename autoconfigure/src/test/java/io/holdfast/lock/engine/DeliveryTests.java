package io.holdfast.lock.engine;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockHandle;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a lock granted to an asynchronous caller either reaches the caller's code or
 * is released.
 */
class DeliveryTests {

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	/** Tasks of the caller's executor, which is busy until {@link #runTasks}. */
	private final Queue<Runnable> tasks = new ArrayDeque<>();

	private final AtomicInteger runs = new AtomicInteger();

	private void runTasks() {
		Runnable task;
		while ((task = this.tasks.poll()) != null) {
			task.run();
		}
	}

	private CompletableFuture<Integer> used(CompletableFuture<?> future) {
		return future.thenApplyAsync((value) -> this.runs.incrementAndGet(), this.tasks::add);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void stageCompletedBeforeItsFunctionRunsReleasesTheLock(String name, Consumer<CompletableFuture<?>> end) {
		end.accept(used(this.fixture.acquire(request())));
		assertReleasedUnused();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void tryStageCompletedBeforeItsFunctionRunsReleasesTheLock(String name, Consumer<CompletableFuture<?>> end) {
		end.accept(used(this.fixture.engine.tryAcquireAsync(request().build()).toCompletableFuture()));
		assertReleasedUnused();
	}

	static Stream<UnaryOperator<CompletableFuture<LockHandle>>> derivedStages() {
		return Stream.of(CompletableFuture::copy, (future) -> future.exceptionally((failure) -> null),
				(future) -> future.copy().exceptionallyCompose((failure) -> null));
	}

	@ParameterizedTest
	@MethodSource("derivedStages")
	void cancellingADerivedStageReleasesTheLock(UnaryOperator<CompletableFuture<LockHandle>> stage) {
		used(stage.apply(this.fixture.acquire(request()))).cancel(false);
		assertReleasedUnused();
	}

	private void assertReleasedUnused() {
		// a timeout completes the future on a JDK thread
		Awaitility.await().untilAsserted(this.fixture::assertNothingLeft);
		runTasks();
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void cancelledStageKeepsTheLockForAPendingFunction() {
		CompletableFuture<LockHandle> acquired = this.fixture.acquire(request());
		CompletableFuture<Boolean> other = acquired.thenApplyAsync(LockHandle::isHeld, this.tasks::add);
		CompletableFuture<Integer> ended = used(acquired);
		ended.cancel(false);
		runTasks();
		assertThat(this.runs).hasValue(0);
		assertThat(other).isCompletedWithValue(true);
		assertThat(acquired.join().isHeld()).isTrue();
		acquired.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void cancelledStageKeepsTheLockOfADeliveredHandle() {
		CompletableFuture<LockHandle> acquired = this.fixture.acquire(request());
		LockHandle handle = acquired.join();
		used(acquired).cancel(false);
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void releasedHandleIsNotDelivered() {
		CompletableFuture<LockHandle> acquired = this.fixture.acquire(request());
		used(acquired).cancel(false);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(acquired::join);
		assertThat(acquired.thenApply((handle) -> this.runs.incrementAndGet())).isCompletedExceptionally();
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void resultCompletedByTheCallerStays() {
		CompletableFuture<Integer> result = used(this.fixture.acquire(request()));
		CompletableFuture<String> text = result.thenApply(String::valueOf);
		result.complete(5);
		assertThat(text).isCompletedWithValue("5");
		assertThat(result.thenApply(String::valueOf)).isCompletedWithValue("5");
		assertReleasedUnused();
	}

	@Test
	void resultOfAFunctionSurvivesCancelledStages() {
		CompletableFuture<String> result = this.fixture.acquire(request()).thenApply((handle) -> {
			handle.close();
			return "done";
		});
		used(result).cancel(false);
		assertThat(result).isCompletedWithValue("done");
		assertThat(result.thenApply(String::length)).isCompletedWithValue(4);
		this.fixture.assertNothingLeft();
	}

	static List<Method> functions() {
		return Arrays.stream(CompletionStage.class.getMethods())
			.filter((method) -> method.getParameterCount() > 0 && !method.getName().startsWith("exceptionally"))
			.sorted(Comparator.comparing(Method::toString))
			.toList();
	}

	/**
	 * A {@link CompletableFuture} runs its dependent stages in reverse order, so the
	 * cancellation comes first.
	 */
	@ParameterizedTest
	@MethodSource("functions")
	void stageCancelledDuringTheGrantReleasesTheLock(Method method) throws Exception {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		CompletableFuture<?> derived = derive(method, waiting, this.runs::incrementAndGet);
		CompletableFuture<Void> granted = CompletableFuture.allOf(waiting).thenRun(() -> derived.cancel(false));
		this.backend.freedByAnother(LOCK);
		assertThat(granted).isCompleted();
		assertReleasedUnused();
	}

	@ParameterizedTest
	@MethodSource("functions")
	void runningFunctionKeepsTheLockOfACancelledStage(Method method) throws Exception {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		CompletableFuture<CompletableFuture<?>> derived = new CompletableFuture<>();
		CompletableFuture<Boolean> kept = new CompletableFuture<>();
		derived.complete(derive(method, waiting, () -> {
			derived.join().cancel(false);
			kept.complete(this.backend.holds(LOCK));
		}));
		this.backend.freedByAnother(LOCK);
		runTasks();
		assertThat(kept).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	static List<Method> functionsOnAnExecutor() {
		return functionsWith(Executor.class);
	}

	static List<Method> functionsOfTwoStages() {
		return functionsWith(CompletionStage.class);
	}

	private static List<Method> functionsWith(Class<?> parameter) {
		return functions().stream()
			.filter((method) -> List.of(method.getParameterTypes()).contains(parameter))
			.toList();
	}

	@ParameterizedTest
	@MethodSource("functionsOnAnExecutor")
	void stageThatItsExecutorRejectsReleasesTheLock(Method method) throws Exception {
		this.backend.heldByAnother(LOCK);
		Executor full = (task) -> {
			throw new RejectedExecutionException("full");
		};
		CompletableFuture<?> waiting = derive(method, this.fixture.acquire(request()), this.runs::incrementAndGet,
				CompletableFuture.completedFuture("other"), full);
		this.backend.freedByAnother(LOCK);
		assertThat(waiting).isCompletedExceptionally();
		assertReleasedUnused();
		assertThat(derive(method, this.fixture.acquire(request()), this.runs::incrementAndGet,
				CompletableFuture.completedFuture("other"), full))
			.isDone();
		assertReleasedUnused();
	}

	@ParameterizedTest
	@MethodSource("functionsOfTwoStages")
	void stageThatEndsWithoutTheLockReleasesIt(Method method) throws Exception {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<?> derived = derive(method, this.fixture.acquire(request()), this.runs::incrementAndGet,
				CompletableFuture.failedFuture(new IllegalStateException("not loaded")), this.tasks::add);
		this.backend.freedByAnother(LOCK);
		runTasks();
		assertThat(derived).isCompletedExceptionally();
		assertReleasedUnused();
	}

	static Stream<UnaryOperator<CompletableFuture<LockHandle>>> timers() {
		return Stream.of((future) -> future.orTimeout(1, TimeUnit.HOURS),
				(future) -> future.completeOnTimeout(null, 1, TimeUnit.HOURS));
	}

	@ParameterizedTest
	@MethodSource("timers")
	void cancellingTheOnlyStageWithdrawsAnAcquisitionWithATimer(UnaryOperator<CompletableFuture<LockHandle>> timer) {
		this.backend.heldByAnother(LOCK);
		used(timer.apply(this.fixture.acquire(request()))).cancel(false);
		assertThat(this.backend.calls).contains("abandon stock:42");
		this.backend.freedByAnother(LOCK);
		assertReleasedUnused();
	}

	@ParameterizedTest
	@MethodSource("timers")
	void timerDoesNotTakeTheLock(UnaryOperator<CompletableFuture<LockHandle>> timer) {
		CompletableFuture<Integer> result = used(timer.apply(this.fixture.acquire(request())));
		result.cancel(false);
		assertReleasedUnused();
	}

	private CompletableFuture<?> derive(Method method, CompletableFuture<LockHandle> future, Runnable code)
			throws Exception {
		boolean either = method.getName().contains("Either");
		return derive(method, future, code,
				either ? new CompletableFuture<>() : CompletableFuture.completedFuture("other"), this.tasks::add);
	}

	private CompletableFuture<?> derive(Method method, CompletableFuture<LockHandle> future, Runnable code,
			CompletionStage<?> other, Executor executor) throws Exception {
		Object[] arguments = Arrays.stream(method.getParameterTypes())
			.map((type) -> (type == CompletionStage.class) ? other
					: (type == Executor.class) ? executor : argument(type, code))
			.toArray();
		return (CompletableFuture<?>) method.invoke(future, arguments);
	}

	private Object argument(Class<?> type, Runnable code) {
		CompletableFuture<Void> result = CompletableFuture.completedFuture(null);
		if (type == Function.class) {
			return (Function<Object, Object>) (value) -> result.thenRun(code);
		}
		if (type == BiFunction.class) {
			return (BiFunction<Object, Object, Object>) (value, other) -> result.thenRun(code);
		}
		if (type == Consumer.class) {
			return (Consumer<Object>) (value) -> code.run();
		}
		return (type == BiConsumer.class) ? (BiConsumer<Object, Object>) (value, other) -> code.run() : code;
	}

}
