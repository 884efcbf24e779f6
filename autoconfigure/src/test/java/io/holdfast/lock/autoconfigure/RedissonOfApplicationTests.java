package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;

import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.analysis;
import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.assertLocks;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the {@link RedissonClient} of an application.
 */
class RedissonOfApplicationTests {

	@AutoClose
	private static final RedisServer server = RedisServer.started();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner shortWait = this.runner
		.withPropertyValues("distributed-lock.startup-timeout=100ms");

	@Test
	void addressWinsOverClientAndSpringDataRedis() {
		this.runner.withUserConfiguration(BrokenClientConfiguration.class)
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"spring.data.redis.port=" + ServerProcess.freePort())
			.run((context) -> assertLocks(context, server));
	}

	@Test
	void clientOfTheApplicationIsUsedAndLeftOpen() {
		RedissonClient client = Redisson.create(single(server.address()));
		try {
			this.runner
				.withBean(RedissonClient.class, () -> client, (definition) -> definition.setDestroyMethodName(""))
				.run((context) -> {
					assertThat(context.getBeansOfType(RedissonClient.class)).hasSize(1);
					assertLocks(context, server);
				});
			assertThat(client.isShutdown()).isFalse();
		}
		finally {
			client.shutdown(0, 1, TimeUnit.SECONDS);
		}
	}

	@Slow
	@Test
	void unreachableClientOfTheApplicationIsExplained() {
		this.shortWait.withUserConfiguration(BrokenClientConfiguration.class)
			.run((context) -> assertThat(analysis(context).getDescription()).contains("your RedissonClient bean"));
	}

	@Test
	void locksAreReleasedBeforeTheApplicationClientCloses() {
		this.runner.withUserConfiguration(WorkingClientConfiguration.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			LockHandle handle = locks.acquire(LockRequest.of("auto", "closing"));
			CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS).execute(handle::close);
			context.close();
			assertThat(handle.isHeld()).isFalse();
			assertThat(server.ask("exists", "holdfast:{auto:closing}:lock")).isEqualTo("0");
		});
	}

	/** Lettuce names the default user with the password, which Redis then accepts. */
	@Test
	void needlessPasswordIsNamed() {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"distributed-lock.redis.password=needless")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Remove it from 'distributed-lock.redis.password'"));
	}

	private static Config single(String address) {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(2);
		config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1);
		return config;
	}

	@Configuration(proxyBeanMethods = false)
	static class BrokenClientConfiguration {

		@Bean(destroyMethod = "shutdown")
		RedissonClient redissonClient() {
			Config config = single("redis://127.0.0.1:" + ServerProcess.freePort());
			config.setLazyInitialization(true);
			return Redisson.create(config);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WorkingClientConfiguration {

		@Bean(destroyMethod = "shutdown")
		RedissonClient redissonClient() {
			return Redisson.create(single(server.address()));
		}

	}

}
