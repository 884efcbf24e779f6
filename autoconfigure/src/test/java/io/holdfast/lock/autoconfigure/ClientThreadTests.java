package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockBackend;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks that are acquired in a callback of the application's own client, on the
 * thread that delivers the responses of the store.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@Slow
class ClientThreadTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 42);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class));

	@Test
	void waitOnTheEventThreadOfZooKeeperIsRefused() {
		try (ZooKeeperServer server = ZooKeeperServer.started()) {
			this.runner
				.withBean(CuratorFramework.class,
						() -> CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100)))
				.run((context) -> {
					CuratorFramework client = context.getBean(CuratorFramework.class);
					Executor callback = (task) -> {
						try {
							client.getData().inBackground((curator, event) -> task.run()).forPath("/");
						}
						catch (Exception ex) {
							throw new IllegalStateException(ex);
						}
					};
					ZooKeeperLockBackend store = context.getBean(ZooKeeperLockBackend.class);
					// the store learns its thread from the first heartbeat
					Awaitility.await()
						.until(() -> CompletableFuture
							.supplyAsync(() -> store.answersOn(Thread.currentThread()), callback)
							.get());
					assertRefusedOn(callback, context);
				});
		}
	}

	@Test
	void waitOnAnEventLoopOfRedissonIsRefused() {
		try (RedisServer server = RedisServer.started()) {
			Config config = new Config();
			config.useSingleServer().setAddress(server.address());
			this.runner.withBean(RedissonClient.class, () -> Redisson.create(config)).run((context) -> {
				Redisson client = (Redisson) context.getBean(RedissonClient.class);
				assertThat(context.getBean(RedisLockBackend.class).answersOn(Thread.currentThread())).isFalse();
				assertRefusedOn(client.getServiceManager().getGroup(), context);
			});
		}
	}

	private static void assertRefusedOn(Executor callback, AssertableApplicationContext context) {
		LockOperations locks = context.getBean(LockOperations.class);
		assertThat(CompletableFuture.supplyAsync(() -> locks.acquire(REQUEST), callback))
			.failsWithin(1, TimeUnit.MINUTES)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContaining("delivers the responses of backend")
			.withMessageContaining("'acquireAsync'");
		CompletableFuture<LockHandle> handle = CompletableFuture
			.supplyAsync(() -> locks.acquireAsync(REQUEST).toCompletableFuture(), callback)
			.thenCompose((acquired) -> acquired);
		handle.join().close();
	}

}
