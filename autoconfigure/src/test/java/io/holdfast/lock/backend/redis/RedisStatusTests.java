package io.holdfast.lock.backend.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a health check sees of Redis.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.lock.backend.redis.RedisLibrary#inDepth")
class RedisStatusTests {

	@Parameter
	private RedisLibrary library;

	@Test
	void serverThatGrantsLocksIsAvailable() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address())) {
			StoreStatus status = answer(backend.status());
			assertThat(status.state()).isEqualTo(State.AVAILABLE);
			assertThat(status.details()).containsEntry("server", "the test's server");
			assertThat(server.keys("*")).isEmpty();
		}
	}

	@Slow
	@Test
	void serverThatRejectsWritesIsNotAvailable() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisServer primary = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address())) {
			server.ask("replicaof", "127.0.0.1", Integer.toString(primary.port()));
			Awaitility.await()
				.atMost(BOUND)
				.untilAsserted(() -> assertThat(backend.status().toCompletableFuture()).failsWithin(BOUND)
					.withThrowableThat()
					.withMessageContainingAll("READONLY", "Connect to the primary"));
		}
	}

	@Test
	void serverWithTooFewReplicasIsReportedWithARemedy() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address())) {
			server.ask("config", "set", "min-replicas-to-write", "1");
			assertThat(backend.status().toCompletableFuture()).failsWithin(BOUND)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageStartingWith("Redis at the test's server cannot store locks now: 'NOREPLICAS")
				.withMessageEndingWith("'. Connect its replicas, or lower its 'min-replicas-to-write'.");
		}
	}

	@Test
	void otherDataUnderTheKeyOfALockIsReportedWithARemedy() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address())) {
			server.ask("set", "test:{text:1}:lock", "of somebody else");
			server.ask("rpush", "test:{list:1}:lock", "of somebody else");
			for (LockName lock : List.of(LockName.of("text", "1"), LockName.of("list", "1"))) {
				assertThat(backend.find(lock).toCompletableFuture()).failsWithin(BOUND)
					.withThrowableThat()
					.havingCause()
					.isInstanceOf(LockBackendException.class)
					.withMessage(
							"Lock '%s' could not be read from Redis at the test's server. A key of this lock holds other data. Delete it, or set a 'distributed-lock.namespace' other than 'test'.",
							lock);
			}
		}
	}

	@Test
	void pausedServerIsReportedInOneShortSentenceWithARemedy() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address(), TestRedis.options(0))) {
			answer(backend.status());
			server.pause();
			try {
				for (CompletionStage<?> query : List.of(backend.status(), backend.find(LockName.of("stock", "42")))) {
					assertThat(query.toCompletableFuture()).failsWithin(BOUND)
						.withThrowableThat()
						.havingCause()
						.isInstanceOf(LockBackendException.class)
						.withMessage(
								"Redis at the test's server could not be reached: no response in time. Check that it is running and responds within 'distributed-lock.response-timeout', and whether it uses TLS.");
				}
			}
			finally {
				server.resume();
			}
		}
	}

	@Test
	void missingReplicasMakeLocksUnavailable() throws Exception {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address(), TestRedis.options(1))) {
			StoreStatus status = answer(backend.status());
			assertThat(status.state()).isEqualTo(State.UNAVAILABLE);
			assertThat(status.details()).containsEntry("replicas", 0).containsEntry("requiredReplicas", 1);
		}
	}

}
