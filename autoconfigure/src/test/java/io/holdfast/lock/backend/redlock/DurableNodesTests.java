package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for nodes that keep their data over a restart and vote again at once.
 */
class DurableNodesTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final RedlockLockOptions OPTIONS = new RedlockLockOptions(TestNodes.NAMESPACE, Duration.ofSeconds(1),
			Duration.ofMillis(450), 0.01, LEASE, false);

	private static List<RedisServer> nodes;

	@BeforeAll
	static void startNodes() {
		nodes = Stream.generate(() -> RedisServer.started("appendonly yes", "appendfsync always")).limit(3).toList();
	}

	@AfterAll
	static void closeNodes() {
		nodes.forEach(RedisServer::close);
	}

	/** They would otherwise keep the lock until the lease expires. */
	@ParameterizedTest
	@MethodSource("io.holdfast.lock.backend.redis.RedisLibrary#inDepth")
	void restartedNodesReleaseTheClaimThatBlocksAnother(RedisLibrary library) throws Exception {
		LockName lock = LockName.of("stock", library.name());
		RedlockLockBackend backend = TestNodes.started(library, nodes.stream().map(RedisServer::port).toList(),
				OPTIONS);
		try {
			Grant grant = FiveNodes.soonGranted(backend, FiveNodes.claim(lock, LEASE));
			List<RedisServer> restarted = nodes.subList(1, 3);
			restarted.forEach(RedisServer::kill);
			assertThat(FiveNodes.get(backend.release(grant))).isNotInstanceOf(Released.class);
			restarted.forEach(RedisServer::start);
			FiveNodes.soonGranted(backend, FiveNodes.claim(lock, LEASE));
		}
		finally {
			backend.close();
		}
	}

}
