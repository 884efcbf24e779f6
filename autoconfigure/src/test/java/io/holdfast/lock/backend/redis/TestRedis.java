package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.redisson.Redisson;
import org.redisson.config.Config;

import io.holdfast.lock.LockBackendException;

/**
 * Creates Redis clients and backends for tests.
 */
final class TestRedis {

	static final String NAMESPACE = "test";

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private TestRedis() {
	}

	static Config config(String address) {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(2);
		config.useSingleServer()
			.setAddress(address)
			.setConnectionMinimumIdleSize(1)
			.setSubscriptionConnectionMinimumIdleSize(1);
		return config;
	}

	/** Returns options for servers that may not respond. */
	static RedisLockOptions options(int waitReplicas) {
		return new RedisLockOptions(NAMESPACE, Duration.ofSeconds(1), waitReplicas, Duration.ofMillis(300),
				"the test's server");
	}

	/** Returns options for servers that respond, but late on a busy machine. */
	static RedisLockOptions patientOptions(int waitReplicas) {
		return new RedisLockOptions(NAMESPACE, PATIENCE, waitReplicas, PATIENCE.dividedBy(2), "the test's server");
	}

	/** Returns a backend with a client that is set up as given. */
	static RedisLockBackend backend(Config config, RedisLockOptions options) {
		return started(new RedissonScriptClient(Redisson.create(config), true, options.responseTimeout()), options);
	}

	/** Retries as an application does: loading a library may outlast one attempt. */
	static RedisLockBackend started(ScriptClient client, RedisLockOptions options) {
		RedisLockBackend backend = new RedisLockBackend(client, options);
		Awaitility.await().ignoreException(LockBackendException.class).until(() -> {
			backend.verify();
			return true;
		});
		return backend;
	}

	/** Waits for a result that must arrive soon. */
	static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

}
