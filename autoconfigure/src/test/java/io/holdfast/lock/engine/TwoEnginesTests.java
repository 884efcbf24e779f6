package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests two engines on one store, like two JVMs, with real threads and real time.
 */
class TwoEnginesTests {

	private static final int THREADS = 8;

	private static final LockName LOCK = LockName.of("stock", "42");

	private final LocalLockBackend store = new LocalLockBackend();

	private final List<LockEngine> engines = List.of(engine(), engine());

	private final ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);

	/** Protected by the lock only. */
	private long counter;

	private FencingToken greatest = new FencingToken(1);

	private LockEngine engine() {
		return new LockEngine(new LockBackends(List.of(this.store), "local"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of());
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.engines.forEach(LockEngine::close);
	}

	@Test
	void noUpdateIsLostAndTokensGrow() throws Exception {
		int rounds = 2_000;
		run((engine, seed) -> {
			for (int i = 0; i < rounds; i++) {
				engine.execute(waits(), (handle) -> {
					assertThat(handle.fencingToken()).isGreaterThan(this.greatest);
					this.greatest = handle.fencingToken();
					return this.counter++;
				});
			}
		});
		assertThat(this.counter).isEqualTo(2L * THREADS * rounds);
		assertNothingLeft();
	}

	@Test
	void timedOutCallersLeaveNothingAndBlockNoOthers() throws Exception {
		run((engine, seed) -> {
			Random random = new Random(seed);
			for (int i = 0; i < 500; i++) {
				try {
					engine.execute(
							LockRequest.forLock(LOCK).waitTime(Duration.ofNanos(random.nextInt(400_000))).build(),
							(handle) -> this.counter++);
				}
				catch (LockNotAcquiredException ex) {
					assertThat(ex).hasMessageContaining("stock:42");
				}
			}
		});
		assertThat(this.counter).isPositive();
		for (LockEngine engine : this.engines) {
			engine.execute(waits(), (handle) -> this.counter++);
		}
		assertNothingLeft();
	}

	private static LockRequest waits() {
		return LockRequest.forLock(LOCK).waitTime(Duration.ofMinutes(1)).build();
	}

	private void run(Body body) throws Exception {
		List<Future<?>> runs = IntStream.range(0, 2 * THREADS)
			.<Future<?>>mapToObj((i) -> this.threads.submit(() -> body.run(this.engines.get(i % 2), i)))
			.toList();
		for (Future<?> run : runs) {
			run.get(2, TimeUnit.MINUTES);
		}
	}

	private void assertNothingLeft() {
		for (LockEngine engine : this.engines) {
			engine.context().retrier().awaitConfirmations();
			assertThat(engine.context().queues().size()).isZero();
			assertThat(engine.context().watchdog().size()).isZero();
			assertThat(engine.context().registry().waiting()).isEmpty();
			assertThat(engine.context().registry().held()).isEmpty();
		}
	}

	@FunctionalInterface
	private interface Body {

		void run(LockEngine engine, int seed);

	}

}
