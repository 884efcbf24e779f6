package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the time that a health check gives each node, on a clock of the test.
 */
class RedlockStatusTests {

	private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);

	private final Timers timers = new Timers();

	@Test
	void silentNodeIsReportedWithinTheTimeOfTheCheck() {
		assertReportedAfter(Duration.ofMillis(900), Duration.ofMillis(900));
	}

	@Test
	void nodeIsSilentAfterTheNodeTimeoutAsInAnAcquisition() {
		assertReportedAfter(Duration.ofMinutes(1), NODE_TIMEOUT);
	}

	private void assertReportedAfter(Duration timeout, Duration expected) {
		RedlockLockBackend backend = new RedlockLockBackend(
				IntStream.range(0, 3).<NodeClient>mapToObj(Node::new).toList(),
				new RedlockLockOptions("test", NODE_TIMEOUT, NODE_TIMEOUT, 0.01, Duration.ofSeconds(30), true),
				this.timers, () -> {
				});
		CompletableFuture<StoreStatus> status = backend.status(timeout).toCompletableFuture();
		this.timers.runUpTo(expected.minusNanos(1));
		assertThat(status).isNotDone();
		this.timers.runUpTo(expected);
		assertThat(status).isCompleted();
		assertThat(status.join().state()).isEqualTo(State.AVAILABLE);
		assertThat(status.join().details()).containsEntry("nodes",
				Map.of("node-0", "silent", "node-1", "up", "node-2", "up"));
	}

	/** The first node never answers. */
	private record Node(int number) implements NodeClient {

		@Override
		public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
			return (this.number == 0) ? new CompletableFuture<>()
					: CompletableFuture.completedFuture(List.of("run-" + this.number, "", ""));
		}

		@Override
		public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
			return run(script, keys, args);
		}

		@Override
		public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
			return CompletableFuture.completedFuture(1);
		}

		@Override
		public boolean isOrdered() {
			return false;
		}

		@Override
		public String address() {
			return "node-" + this.number;
		}

		@Override
		public void close() {
		}

	}

	/** Runs tasks when the test says so. */
	private static final class Timers implements SchedulingClock {

		private final List<Runnable> tasks = new ArrayList<>();

		private final List<Long> due = new ArrayList<>();

		@Override
		public long nanos() {
			return 0;
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			this.due.add(delayNanos);
			this.tasks.add(task);
			return () -> {
			};
		}

		void runUpTo(Duration time) {
			IntStream.range(0, this.tasks.size())
				.filter((i) -> this.due.get(i) <= time.toNanos())
				.forEach((i) -> this.tasks.get(i).run());
		}

	}

}
