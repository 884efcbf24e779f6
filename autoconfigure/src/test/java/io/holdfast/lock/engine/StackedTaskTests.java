package io.holdfast.lock.engine;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for a thread of a {@code ForkJoinPool} that runs another task while one waits
 * under its lock.
 */
class StackedTaskTests {

	private final EngineFixture fixture = new EngineFixture();

	private final LockEngine engine = this.fixture.engine;

	/** A pool of exactly one thread, which therefore runs any task that it waits for. */
	private final ForkJoinPool pool = new ForkJoinPool(1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false,
			1, 1, 0, (full) -> true, 1, TimeUnit.MINUTES);

	@AfterEach
	void close() {
		this.pool.shutdown();
		this.fixture.assertNothingLeft();
	}

	/** Runs a task on the thread that waits for it. */
	interface Nesting {

		<T> T run(Callable<T> task);

	}

	static Stream<Nesting> nestings() {
		return Stream.of(new Nesting() {
			@Override
			public <T> T run(Callable<T> task) {
				return ForkJoinTask.adapt(task).fork().join();
			}
		}, new Nesting() {
			@Override
			public <T> T run(Callable<T> task) {
				return Stream.of(1, 2).parallel().map((each) -> call(task)).toList().get(0);
			}
		});
	}

	private static <T> T call(Callable<T> task) {
		try {
			return task.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private <T> T underLock(LockRequest.Builder request, Callable<T> body) {
		return this.pool.submit(() -> this.engine.execute(request.build(), (handle) -> {
			T result = body.call();
			assertThat(LockHandle.current()).containsSame(handle);
			assertThat(handle.isHeld()).isTrue();
			return result;
		})).join();
	}

	@ParameterizedTest
	@MethodSource("nestings")
	void taskDoesNotReenterTheLockOfAnother(Nesting nesting) {
		Throwable refused = underLock(request(), () -> {
			Thread thread = Thread.currentThread();
			return nesting.run(() -> {
				assertThat(Thread.currentThread()).isSameAs(thread);
				return catchThrowable(() -> this.engine.tryAcquire(request().build()));
			});
		});
		assertThat(refused).isInstanceOf(LockConfigurationException.class)
			.hasMessageContainingAll("'stock:42'", "another task holds it on this thread");
	}

	@ParameterizedTest
	@MethodSource("nestings")
	void taskHoldsNoLockOfAnother(Nesting nesting) {
		assertThat(underLock(request(), () -> nesting.run(LockContext::handles))).isEmpty();
		assertThat(underLock(request(), () -> nesting.run(LockHandle::current))).isEmpty();
	}

	@Test
	void lockOfSeveralThatAnotherTaskHoldsIsRefused() {
		LockRequest several = LockRequest.forLocks(List.of(LockName.of("a"), EngineFixture.LOCK)).build();
		underLock(request(), () -> ForkJoinTask.adapt(() -> {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.engine.acquire(several));
		}).fork().join());
	}

	@Test
	void taskReentersItsOwnHoldsOfOtherLocks() {
		LockRequest other = LockRequest.of("other");
		boolean again = underLock(request(), () -> ForkJoinTask
			.adapt(() -> this.engine.execute(other,
					(handle) -> this.engine.execute(other,
							(inner) -> inner.ownerId().equals(handle.ownerId()) && LockContext.handles().size() == 2)))
			.fork()
			.join());
		assertThat(again).isTrue();
	}

	@Test
	void readersOfOneLockAreAdmittedIndividually() {
		LockRequest shared = request().mode(LockMode.SHARED).build();
		try (LockEngine local = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of())) {
			List<String> owners = this.pool.submit(() -> local.execute(shared, (outer) -> {
				String inner = ForkJoinTask.adapt(() -> local.execute(shared, LockHandle::ownerId)).fork().join();
				return List.of(outer.ownerId(), inner);
			})).join();
			assertThat(owners).doesNotHaveDuplicates();
		}
	}

	@Test
	void sameTaskReentersItsLock() {
		assertThat(underLock(request(), () -> this.engine.execute(request().build(), LockHandle::isHeld))).isTrue();
	}

}
