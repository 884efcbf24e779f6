package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.config.Config;

/**
 * Creates Redis clients and backends for tests.
 */
final class TestRedis {

	static final String NAMESPACE = "test";

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

	static RedisLockOptions options(int waitReplicas) {
		return new RedisLockOptions(NAMESPACE, Duration.ofSeconds(1), waitReplicas, Duration.ofMillis(300),
				"the test's server");
	}

	/** Returns a backend with a client that is set up as given. */
	static RedisLockBackend backend(Config config, RedisLockOptions options) {
		return started(new RedissonScriptClient(Redisson.create(config), true, options.responseTimeout()), options);
	}

	static RedisLockBackend started(ScriptClient client, RedisLockOptions options) {
		RedisLockBackend backend = new RedisLockBackend(client, options);
		backend.verify();
		return backend;
	}

	/** Waits for a result that must arrive soon. */
	static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(5, TimeUnit.SECONDS);
	}

}
