package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Base class for tests with two clients of one Redis server.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.lock.backend.redis.RedisLibrary#inDepth")
abstract class OneRedisServer {

	static RedisServer server;

	@Parameter
	RedisLibrary library;

	static RedisLockBackend first;

	static RedisLockBackend second;

	final LockName lock = LockName.of("stock", OwnerId.random().value());

	@BeforeAll
	static void start() {
		server = RedisServer.started();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@BeforeParameterizedClassInvocation
	static void connect(RedisLibrary library) {
		first = library.backend(server.address());
		second = library.backend(server.address());
	}

	@AfterParameterizedClassInvocation
	static void disconnect() {
		first.close();
		second.close();
	}

	@AfterEach
	void nothingIsLeftButTokens() {
		List<String> keys = server.keys("*");
		server.ask("flushall");
		assertThat(keys).allMatch((key) -> key.endsWith("}:token"));
	}

	String key(String part) {
		return "test:{" + this.lock + "}:" + part;
	}

	Claim claim(Duration waitTime) {
		return claim(this.lock, waitTime);
	}

	static Claim claim(LockName lock, Duration waitTime) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), false, waitTime, false);
	}

	Claim shared(Duration waitTime) {
		return new Claim(this.lock, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), false, waitTime, false);
	}

	Claim fair(Duration waitTime) {
		return new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), false, waitTime,
				true);
	}

	static Contended refused(RedisLockBackend backend, Claim claim) throws Exception {
		AcquireResult result = get(backend.tryAcquire(claim));
		assertThat(result).isInstanceOf(Contended.class);
		return (Contended) result;
	}

}
