package io.holdfast.lock.autoconfigure;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a store that never responds fails the startup when the startup timeout
 * elapses. The store accepts connections, and a connection pool would wait for minutes.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@Slow
class SilentStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, EtcdLockAutoConfiguration.class, RedisLockAutoConfiguration.class,
				RedlockLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class,
				JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class, FencingAutoConfiguration.class))
		.withPropertyValues("distributed-lock.startup-timeout=100ms");

	@AutoClose
	private ServerSocket silent;

	@BeforeEach
	void listen() throws IOException {
		this.silent = new ServerSocket(0);
	}

	@Test
	void redis() {
		assertStopsTheStart("Redis ('distributed-lock.redis.address')",
				this.runner.withPropertyValues("distributed-lock.redis.address=redis://" + address()));
	}

	@Test
	void redlock() {
		assertStopsTheStart("the Redis nodes of", this.runner.withPropertyValues(
				"distributed-lock.redlock.nodes=redis://127.0.0.1:%1$d,redis://127.0.0.2:%1$d,redis://127.0.0.3:%1$d"
					.formatted(this.silent.getLocalPort())));
	}

	@Test
	void zooKeeper() {
		assertStopsTheStart("ZooKeeper at '%s'".formatted(address()),
				this.runner
					.withBean(CuratorFramework.class,
							() -> CuratorFrameworkFactory.newClient(address(), 1_000, 1_000, new RetryOneTime(100)))
					.withPropertyValues("distributed-lock.backend=zookeeper"));
	}

	@Test
	void etcd() {
		assertStopsTheStart("etcd at [http://%s]".formatted(address()),
				this.runner.withPropertyValues("distributed-lock.etcd.endpoints=http://" + address()));
	}

	@Test
	void jdbc() {
		assertStopsTheStart("the database of the backend 'jdbc'",
				silentDatabase().withPropertyValues("distributed-lock.backend=jdbc"));
	}

	@Test
	void applicationThatMayStartWithoutTheDatabaseDoes(CapturedOutput output) {
		silentDatabase().withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The application starts without the database of the backend 'jdbc'");
	}

	@Test
	void fencesDoNotWaitForADatabaseThatKeepsNoLocks(CapturedOutput output) {
		silentDatabase().withPropertyValues("distributed-lock.backend=local")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The fence table 'holdfast_fence' could not be checked");
	}

	private ApplicationContextRunner silentDatabase() {
		return this.runner.withPropertyValues("spring.datasource.url=jdbc:postgresql://%s/shop".formatted(address()),
				"spring.datasource.hikari.connection-timeout=600000");
	}

	private String address() {
		return ServerProcess.HOST + ":" + this.silent.getLocalPort();
	}

	private static void assertStopsTheStart(String store, ApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).getFailure()
			.hasStackTraceContaining("Locks are kept in " + store)
			.hasStackTraceContaining("could not be used within 100ms")
			.hasStackTraceContaining("distributed-lock.fail-fast=false"));
	}

}
