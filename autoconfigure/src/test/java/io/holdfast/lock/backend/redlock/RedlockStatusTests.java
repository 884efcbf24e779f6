package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the time that a health check gives each node, on a clock of the test.
 */
class RedlockStatusTests {

	private final Timers timers = new Timers();

	@Test
	void silentNodeIsReportedWithinTheTimeOfTheCheck() {
		assertReportedAfter(Duration.ofMillis(900), Duration.ofMillis(900));
	}

	@Test
	void nodeIsSilentAfterTheNodeTimeoutAsInAnAcquisition() {
		assertReportedAfter(Duration.ofMinutes(1), ScriptedNode.TIMEOUT);
	}

	private void assertReportedAfter(Duration timeout, Duration expected) {
		List<ScriptedNode> nodes = ScriptedNode.nodes(3);
		// the first one never answers
		nodes.get(0).connected = new CompletableFuture<>();
		RedlockLockBackend backend = ScriptedNode.backend(nodes, this.timers);
		CompletableFuture<StoreStatus> status = backend.status(timeout).toCompletableFuture();
		this.timers.runUpTo(expected.minusNanos(1));
		assertThat(status).isNotDone();
		this.timers.runUpTo(expected);
		assertThat(status).isCompleted();
		assertThat(status.join().state()).isEqualTo(State.AVAILABLE);
		assertThat(status.join().details()).containsEntry("nodes",
				Map.of("node-0", "silent", "node-1", "up", "node-2", "up"));
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
