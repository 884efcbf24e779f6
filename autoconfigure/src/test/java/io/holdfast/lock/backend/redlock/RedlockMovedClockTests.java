package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedlockLockBackend} on three masters whose clocks all move.
 */
class RedlockMovedClockTests extends MovedClockContract {

	private static final Duration SHORT = Duration.ofSeconds(2);

	@AutoClose
	private final TestNodes nodes = TestNodes.fresh(3);

	RedlockMovedClockTests() {
		this.nodes.each((node) -> {
			node.ownWallClock();
			node.restart();
			TestNodes.admit(node);
		});
	}

	private RedlockLockBackend client(int portOfTheLast, Duration longestLease) {
		return TestNodes.started(RedisLibrary.REDISSON, List.of(port(0), port(1), portOfTheLast),
				TestNodes.options(Duration.ofMillis(450), longestLease));
	}

	private int port(int node) {
		return this.nodes.get(node).port();
	}

	/**
	 * The third node has never received a request for the lock, and the first one keeps
	 * it until the lease ends, however long the restart takes.
	 */
	@Slow
	@ParameterizedTest
	@ValueSource(ints = { -1, 1 })
	void restartedNodeIsQuarantinedWhateverItsClock(int hours) throws Exception {
		LockName lock = LockName.of("restarted", Integer.toString(hours));
		RedisServer forgetful = this.nodes.get(1);
		try (RedlockLockBackend cutOff = client(ServerProcess.freePort(), SHORT);
				RedlockLockBackend other = client(port(2), SHORT)) {
			long begin = System.nanoTime();
			Grant held = granted(cutOff, lasting(lock, SHORT));
			moveClock(forgetful, Duration.ofHours(hours));
			Grant next = soonGranted(other, lasting(lock, SHORT));
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("time until the second owner")
				.isGreaterThan(SHORT.minusMillis(100));
			assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		}
		finally {
			moveClock(forgetful, Duration.ZERO);
			TestNodes.admit(forgetful);
		}
	}

	private static void moveClock(RedisServer node, Duration fromNow) {
		node.moveWallClock(fromNow);
		node.restart();
	}

	@Override
	protected LockBackend connect() {
		return client(port(2), Duration.ofSeconds(30));
	}

	@Override
	protected void moveClock(Duration fromNow) {
		this.nodes.each((node) -> node.moveWallClock(fromNow));
	}

}
