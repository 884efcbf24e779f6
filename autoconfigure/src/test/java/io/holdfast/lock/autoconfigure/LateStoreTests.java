package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a store is used if it becomes reachable only after the application has
 * started to start.
 */
@Slow
class LateStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, EtcdLockAutoConfiguration.class, RedisLockAutoConfiguration.class,
				RedlockLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class,
				JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class));

	@Test
	void redisIsUsedOnceItIsReachable() {
		try (RedisServer server = RedisServer.started()) {
			assertStartsLate(server.port(), (runner, port) -> runner
				.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:" + port));
		}
	}

	@Test
	void redlockIsUsedOnceItIsReachable() {
		try (RedisServer a = RedisServer.started();
				RedisServer b = RedisServer.started();
				TcpProxy wire = TcpProxy.to(ServerProcess.freePort())) {
			assertStartsLate(a.port(), (runner, port) -> runner
				.withPropertyValues(
						"distributed-lock.redlock.nodes=redis://127.0.0.1:%d,redis://127.0.0.1:%d,redis://127.0.0.1:%d"
							.formatted(port, b.port(), wire.port()),
						"distributed-lock.redlock.restart-quarantine=false"));
		}
	}

	@Test
	void etcdIsUsedOnceItIsReachable() {
		try (EtcdServer server = EtcdServer.started()) {
			assertStartsLate(server.port(), (runner, port) -> runner
				.withPropertyValues("distributed-lock.etcd.endpoints=http://127.0.0.1:" + port));
		}
	}

	@Test
	void zooKeeperIsUsedOnceItIsReachable() {
		try (ZooKeeperServer server = ZooKeeperServer.started()) {
			assertStartsLate(
					server.port(), (runner,
							port) -> runner
								.withBean(CuratorFramework.class,
										() -> CuratorFrameworkFactory.newClient("127.0.0.1:" + port,
												new RetryOneTime(100)))
								.withPropertyValues("distributed-lock.backend=zookeeper"));
		}
	}

	@Test
	void jdbcIsUsedOnceItIsReachable() {
		try (PostgresServer server = PostgresServer.started()) {
			assertStartsLate(server.port(),
					(runner, port) -> runner.withPropertyValues("distributed-lock.backend=jdbc",
							"distributed-lock.jdbc.initialize-schema=always",
							"spring.datasource.username=" + PostgresServer.USERNAME,
							"spring.datasource.url=" + server.jdbcUrl().replace(":" + server.port(), ":" + port)));
		}
	}

	/**
	 * Starts an application whose connections are dropped at first, and connects the
	 * proxy to the server after several attempts.
	 */
	private void assertStartsLate(int server, Store store) {
		try (TcpProxy wire = TcpProxy.to(ServerProcess.freePort())) {
			CompletableFuture<Void> led = CompletableFuture.runAsync(() -> {
				Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> wire.connections() >= 3);
				wire.redirectTo(server);
			});
			store.at(this.runner, wire.port())
				.withPropertyValues("distributed-lock.startup-timeout=60s")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(led).isCompleted();
					assertThat(context.getBean(LockOperations.class)
						.<Boolean, RuntimeException>execute(LockRequest.of("stock", 42), LockHandle::isHeld)).isTrue();
				});
		}
	}

	private interface Store {

		ApplicationContextRunner at(ApplicationContextRunner runner, int port);

	}

}
