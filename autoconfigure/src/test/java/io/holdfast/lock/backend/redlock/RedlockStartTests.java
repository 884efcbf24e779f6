package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for startup with nodes that have no memory of earlier locks.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.lock.backend.redis.RedisLibrary#inDepth")
@ExtendWith(OutputCaptureExtension.class)
class RedlockStartTests {

	private static final Duration AMPLE = Duration.ofMinutes(1);

	private static final LockName LOCK = LockName.of("stock", "start");

	private static final RedlockLockOptions OPTIONS = TestNodes.options(Duration.ofMillis(400), Duration.ofSeconds(2));

	@Parameter
	private RedisLibrary library;

	@AutoClose
	private final TestNodes nodes = TestNodes.fresh(3);

	@Slow
	@Test
	void firstStartWaitsOnceUntilNewNodesVoteAndSaysSo(CapturedOutput output) throws Exception {
		try (RedlockLockBackend first = this.nodes.backend(this.library, OPTIONS);
				RedlockLockBackend second = this.nodes.backend(this.library, OPTIONS)) {
			start(first);
			assertThat(output).containsOnlyOnce("No lock is granted for 2.02s")
				.contains("Startup waits for this", "A majority of the Redis nodes votes after");
			assertThat(warnings(output)).hasSize(1);
			assertThat(ask(first, claim(LOCK))).isInstanceOf(Acquired.class);
			start(second);
			assertThat(output).containsOnlyOnce("No lock is granted for");
		}
	}

	@Slow
	@Test
	void startAfterAllNodesHaveRestartedWaitsAgain(CapturedOutput output) throws Exception {
		this.nodes.each(TestNodes::admit);
		this.nodes.each(RedisServer::kill);
		this.nodes.each(RedisServer::start);
		try (RedlockLockBackend backend = this.nodes.backend(this.library, OPTIONS)) {
			start(backend);
			assertThat(output).contains("Startup waits for this");
			assertThat(ask(backend, claim(LOCK))).isInstanceOf(Acquired.class);
		}
	}

	@Test
	void startThatWouldWaitTooLongContinuesAndRequestsSayWhy(CapturedOutput output) throws Exception {
		try (RedlockLockBackend backend = this.nodes.backend(this.library,
				TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			start(backend);
			assertThat(output).contains("Startup does not wait for this");
			assertThat(ask(backend, claim(LOCK))).isInstanceOfSatisfying(Indeterminate.class,
					(result) -> assertThat(result.cause()).hasMessageContaining("may not vote for")
						.hasMessageContaining("s more"));
			assertThat(warnings(output)).hasSize(1);
		}
	}

	@Test
	void startDoesNotWaitForAMinority(CapturedOutput output) throws Exception {
		TestNodes.admit(this.nodes.get(0));
		TestNodes.admit(this.nodes.get(1));
		try (RedlockLockBackend backend = this.nodes.backend(this.library,
				TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			start(backend);
			assertThat(output).doesNotContain("No lock is granted for");
			assertThat(ask(backend, claim(LOCK))).isInstanceOf(Acquired.class);
			assertThat(warnings(output)).singleElement()
				.asString()
				.contains("[127.0.0.1:" + this.nodes.get(2).port() + "] remember nothing of earlier locks");
		}
	}

	@Test
	@DisplayName("Of nodes that restart together, the first is reported, and the one that leaves no majority")
	void nodesThatRestartTogetherAreReportedTwice(CapturedOutput output) throws Exception {
		this.nodes.each(TestNodes::admit);
		try (RedlockLockBackend backend = this.nodes.backend(this.library,
				TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			start(backend);
			assertThat(warnings(output)).isEmpty();
			this.nodes.each(RedisServer::kill);
			this.nodes.get(0).start();
			this.nodes.get(1).start();
			awaitOutcomeWithTwoRestartedNodes(backend);
			this.nodes.get(0).kill();
			this.nodes.get(2).start();
			awaitOutcomeWithTwoRestartedNodes(backend);
			assertThat(warnings(output)).hasSize(2)
				.last()
				.asString()
				.contains("The others are no majority, so no lock is granted meanwhile");
		}
	}

	@Test
	@DisplayName("Nodes that another client has admitted are reported to vote, and so is their next restart")
	void nodesThatAnotherClientHasAdmittedAreReported(CapturedOutput output) throws Exception {
		this.nodes.each(TestNodes::admit);
		try (RedlockLockBackend backend = this.nodes.backend(this.library,
				TestNodes.options(Duration.ofMillis(400), Duration.ofMinutes(5)))) {
			start(backend);
			for (int restarts = 1; restarts <= 2; restarts++) {
				this.nodes.each(RedisServer::kill);
				this.nodes.get(0).start();
				this.nodes.get(1).start();
				awaitOutcomeWithTwoRestartedNodes(backend);
				assertThat(warnings(output)).hasSize(2 * restarts);
				TestNodes.admit(this.nodes.get(0));
				TestNodes.admit(this.nodes.get(1));
				Awaitility.await().atMost(BOUND).until(() -> ask(backend, claim(LOCK)) instanceof Acquired);
				assertThat(output.getAll().split("votes again", -1)).hasSize(2 * restarts + 1);
			}
		}
	}

	/**
	 * Waits until the only two nodes that run do not vote. A third node would not be
	 * asked for its vote if it responded last.
	 */
	private static void awaitOutcomeWithTwoRestartedNodes(RedlockLockBackend backend) {
		Awaitility.await().atMost(BOUND).until(() -> {
			AcquireResult result = ask(backend, claim(LOCK));
			return result instanceof Indeterminate unknown
					&& unknown.cause().getMessage().split("may not vote", -1).length > 2;
		});
	}

	private static List<String> warnings(CapturedOutput output) {
		// the logging system may abbreviate the name of a logger
		return output.getAll().lines().filter((line) -> line.contains("WARN") && line.contains(".redlock.")).toList();
	}

	private static void start(RedlockLockBackend backend) {
		backend.verify();
		backend.awaitVotes(AMPLE);
	}

}
