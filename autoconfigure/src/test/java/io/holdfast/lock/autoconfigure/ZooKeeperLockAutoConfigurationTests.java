package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ZooKeeperLockAutoConfiguration}.
 */
class ZooKeeperLockAutoConfigurationTests {

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class));

	private static CuratorFramework client(String address) {
		return CuratorFrameworkFactory.newClient(address, 10_000, 1_000, new RetryOneTime(100));
	}

	private ApplicationContextRunner connected() {
		return this.runner.withBean(CuratorFramework.class, () -> client(server.connectString()));
	}

	@Test
	void clientOfTheApplicationAloneConfiguresTheStore() {
		connected().run((context) -> {
			assertThat(context).hasSingleBean(ZooKeeperLockBackend.class);
			assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("zookeeper");
		});
	}

	@Test
	void namedStoreKeepsLocksAndReleasesThemAtTheEnd() throws Exception {
		connected().withPropertyValues("distributed-lock.backend=zookeeper", "distributed-lock.namespace=shop")
			.run((context) -> {
				LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42));
				assertThat(handle.backend()).isEqualTo("zookeeper");
				assertThat(handle.isHeld()).isTrue();
				assertThat(context.getBean(CuratorFramework.class).checkExists().forPath("/holdfast/shop")).isNotNull();
				handle.close();
			});
	}

	@Test
	void storeForSomeAnnotationsExistsBesideTheDefault() {
		connected()
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.zookeeper.base-path=/app/locks")
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				LockRequest request = LockRequest.of("stock").toBuilder().backend("zookeeper").build();
				try (LockHandle there = locks.acquire(request);
						LockHandle here = locks.acquire(LockRequest.of("stock"))) {
					assertThat(there.backend()).isEqualTo("zookeeper");
					assertThat(here.backend()).isEqualTo("local");
				}
			});
	}

	@Test
	void missingClientStopsTheStartWithTheRemedy() {
		this.runner.withPropertyValues("distributed-lock.backend=zookeeper")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("there is no CuratorFramework bean")
				.hasMessageContaining("spring.cloud.zookeeper.connect-string"));
	}

	@Slow
	@Test
	void serverThatStartsLaterIsUsed() {
		try (ZooKeeperServer late = ZooKeeperServer.started()) {
			late.kill();
			this.runner.withBean(CuratorFramework.class, () -> client(late.connectString()))
				.withPropertyValues("distributed-lock.backend=zookeeper")
				.withPropertyValues("distributed-lock.fail-fast=false", "distributed-lock.wait-time=1s")
				.run((context) -> {
					LockOperations locks = context.getBean(LockOperations.class);
					assertThatExceptionOfType(LockBackendException.class)
						.isThrownBy(() -> locks.acquire(LockRequest.of("stock", 42)))
						.withMessageContaining("stock:42");
					late.start();
					Awaitility.await()
						.atMost(Duration.ofSeconds(30))
						.ignoreExceptionsMatching(
								(ex) -> ex instanceof LockBackendException || ex instanceof LockNotAcquiredException)
						.until(() -> locks.execute(LockRequest.of("stock", 42), LockHandle::isHeld));
				});
		}
	}

	@Slow
	@Test
	void unreachableServerStopsTheStartOrIsAwaited() {
		ApplicationContextRunner unreachable = this.runner.withBean(CuratorFramework.class, () -> client("127.0.0.1:1"))
			.withPropertyValues("distributed-lock.backend=zookeeper", "distributed-lock.startup-timeout=100ms");
		unreachable.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.hasMessageContaining(
					"Locks are kept in ZooKeeper at '127.0.0.1:1', which could not be used within 100ms: ZooKeeper did not respond. Check that it is running, and the connect string.")
			.hasMessageContaining("distributed-lock.fail-fast=false"));
		unreachable.withPropertyValues("distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Slow
	@Test
	void checkFailsFastWhileTheConnectionIsSuspended() {
		try (TcpProxy wire = TcpProxy.to(server.port())) {
			this.runner.withBean(CuratorFramework.class, () -> client("127.0.0.1:" + wire.port()))
				.withPropertyValues("distributed-lock.backend=zookeeper",
						"distributed-lock.zookeeper.when-suspended=fail")
				.run((context) -> {
					try (LockHandle handle = context.getBean(LockOperations.class)
						.acquire(LockRequest.of("stock", 42))) {
						wire.stall();
						wire.cut();
						Awaitility.await()
							.atMost(Duration.ofSeconds(5))
							.untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
								.isThrownBy(handle::assertHeld));
						assertThat(handle.isHeld()).isTrue();
						wire.flow();
					}
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "5s", "60s" })
	void lockDelayThatLeavesNoTimeForHoldersStopsTheStart(String delay) {
		connected().withPropertyValues("distributed-lock.lock-delay=" + delay)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("ZooKeeper grants sessions of 10s")
				.hasMessageContaining("'distributed-lock.lock-delay' is " + delay)
				.hasMessageContaining("less than 5s"));
	}

	@Test
	void missingNodeOfTheConnectStringStopsTheStart() {
		this.runner.withBean(CuratorFramework.class, () -> client(server.connectString() + "/missing"))
			.withPropertyValues("distributed-lock.backend=zookeeper")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("If the connect string ends with a path, create the node of that path."));
	}

	@Test
	void invalidPathStopsTheStart() {
		connected().withPropertyValues("distributed-lock.zookeeper.base-path=locks/")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.zookeeper.base-path' is 'locks/'"));
	}

}
