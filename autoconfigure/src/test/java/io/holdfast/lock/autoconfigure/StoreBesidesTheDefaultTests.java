package io.holdfast.lock.autoconfigure;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a store that is configured in addition to the one that
 * 'distributed-lock.backend' names. It fails the startup only if a method names it.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreBesidesTheDefaultTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, RedisLockAutoConfiguration.class, RedlockLockAutoConfiguration.class,
				ZooKeeperLockAutoConfiguration.class, EtcdLockAutoConfiguration.class, JdbcLockAutoConfiguration.class,
				LockInterceptorAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.startup-timeout=100ms",
				"distributed-lock.redis.connection-timeout=100ms", "distributed-lock.wait-time=0s", "shop.store=local")
		.withBean(Shop.class);

	/**
	 * Returns the configuration of an application in production, with no reachable store.
	 */
	private ApplicationContextRunner offline() {
		return this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withBean(CuratorFramework.class,
					() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100)))
			.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:1",
					"distributed-lock.redlock.nodes=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3",
					"distributed-lock.etcd.endpoints=http://127.0.0.1:1", "distributed-lock.zookeeper.base-path=/locks",
					"distributed-lock.jdbc.table=locks",
					"spring.datasource.url=jdbc:postgresql://127.0.0.1:1/shop?user=shop");
	}

	private static boolean acquires(LockOperations locks, String store) {
		return locks.<Boolean, RuntimeException>execute(
				LockRequest.forLock(LockName.of("stock", "42")).backend(store).build(), LockHandle::isHeld);
	}

	@Slow
	@Test
	void doesNotStopTheStartIfNoMethodNamesIt() {
		offline().run((context) -> {
			assertThat(context).hasNotFailed();
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(acquires(locks, "local")).isTrue();
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> acquires(locks, "redis"));
		});
	}

	@Test
	void tablesAreCreatedAtTheStartIfTheDatabaseIsReachable() {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("distributed-lock.jdbc.table=locks", "spring.datasource.url=jdbc:h2:mem:besides",
					"distributed-lock.startup-timeout=1m")
			.run((context) -> assertThat(acquires(context.getBean(LockOperations.class), "jdbc")).isTrue());
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "etcd", "zookeeper", "jdbc" })
	void stopsTheStartIfAMethodNamesIt(String store) {
		offline().withPropertyValues("shop.store= " + store.toUpperCase())
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(StoreUnavailableException.class)
				.message()
				.contains("could not be used within 100ms", "@DistributedLock(backend = \"%s\")".formatted(store))
				.doesNotContain("'distributed-lock.backend'"));
	}

	@Slow
	@Test
	void methodThatNamesItDoesNotStopTheStartWithoutFailFast() {
		offline().withPropertyValues("shop.store=redis", "distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "redis.wait-replicas=1", "redlock.node-timeout=60ms", "etcd.username=shop",
			"zookeeper.base-path=/locks", "jdbc.table=locks" })
	void settingWithoutAnAddressDoesNotStopTheStart(String setting) {
		this.runner.withPropertyValues("distributed-lock." + setting)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startLogsWhichStoreKeepsLocks(CapturedOutput output) {
		offline().run((context) -> assertThat(output)
			.containsOnlyOnce("Using lock backend 'local', because "
					+ "'distributed-lock.backend' names it; also available: [etcd, jdbc, redis, redlock, zookeeper]")
			.doesNotContain("whose locks are shared"));
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, EtcdLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.etcd.endpoints=http://127.0.0.1:1",
					"distributed-lock.fail-fast=false", "distributed-lock.namespace=shop")
			.run((context) -> assertThat(output)
				.contains("Using lock backend 'etcd', because 'distributed-lock.etcd.*' is set; "
						+ "namespace 'shop', whose locks are shared by all applications that use it"));
	}

	static class Shop {

		@DistributedLock(name = "shop", backend = "${shop.store}")
		public void sell() {
		}

	}

}
