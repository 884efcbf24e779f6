package io.holdfast.lock.backend.redlock;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The start with nodes that remember nothing of earlier locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedlockStartTests {

	private static final Duration AMPLE = Duration.ofMinutes(1);

	private static final LockName LOCK = LockName.of("stock", "start");

	private static final RedlockOptions OPTIONS = TestNodes.options(Duration.ofMillis(400), Duration.ofSeconds(2));

	private final TestNodes nodes = TestNodes.fresh(3);

	@AfterEach
	void stop() {
		this.nodes.close();
	}

	@Test
	void firstStartWaitsOnceUntilNewNodesVoteAndSaysSo(CapturedOutput output) throws Exception {
		try (RedlockLockBackend first = this.nodes.backend(OPTIONS);
				RedlockLockBackend second = this.nodes.backend(OPTIONS)) {
			first.start(AMPLE);
			assertThat(output).containsOnlyOnce("No lock is granted for 2.02s")
				.contains("the start waits for that", "A majority of the Redis nodes votes after");
			assertThat(ask(first, claim(LOCK))).isInstanceOf(Acquired.class);
			second.start(AMPLE);
			assertThat(output).containsOnlyOnce("No lock is granted for");
		}
	}

	@Test
	void startAfterAllNodesHaveRestartedWaitsAgain(CapturedOutput output) throws Exception {
		this.nodes.each(TestNodes::admit);
		this.nodes.each(RedisServer::kill);
		this.nodes.each(RedisServer::start);
		try (RedlockLockBackend backend = this.nodes.backend(OPTIONS)) {
			backend.start(AMPLE);
			assertThat(output).contains("the start waits for that");
			assertThat(ask(backend, claim(LOCK))).isInstanceOf(Acquired.class);
		}
	}

	@Test
	void startThatWouldWaitTooLongGoesOnAndRequestsSayHowLongItTakes(CapturedOutput output) throws Exception {
		try (RedlockLockBackend backend = this.nodes
			.backend(TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			backend.start(AMPLE);
			assertThat(output).contains("the start does not wait for that");
			assertThat(ask(backend, claim(LOCK))).isInstanceOfSatisfying(Indeterminate.class,
					(result) -> assertThat(result.cause()).hasMessageContaining("may not vote for")
						.hasMessageContaining("s more"));
		}
	}

	@Test
	void startDoesNotWaitForAMinority(CapturedOutput output) throws Exception {
		TestNodes.admit(this.nodes.get(0));
		TestNodes.admit(this.nodes.get(1));
		try (RedlockLockBackend backend = this.nodes
			.backend(TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			backend.start(AMPLE);
			assertThat(output).doesNotContain("No lock is granted for");
			assertThat(ask(backend, claim(LOCK))).isInstanceOf(Acquired.class);
		}
	}

}
