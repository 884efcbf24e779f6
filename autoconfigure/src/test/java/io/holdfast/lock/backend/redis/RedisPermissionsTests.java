package io.holdfast.lock.backend.redis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisLibrary.Login;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.FailingLog;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisCluster;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ParameterizedClass(name = "{0}")
@EnumSource(RedisLibrary.class)
@ExtendWith(OutputCaptureExtension.class)
class RedisPermissionsTests {

	private static final Login LOGIN = new Login("app", "s3cret");

	/** The minimum permissions, as documented in {@code docs/how-to/redis.md}. */
	private static final String MINIMUM = "~test:* &test:* +@connection +eval +evalsha +script|load +get +set +del +exists +pexpire +pexpireat +pttl +time +zadd +zrem +zrange +zrangebyscore +zremrangebyscore +zscore +publish +subscribe +unsubscribe";

	@Parameter
	private RedisLibrary library;

	@Test
	void userWithTheDocumentedPermissionsDoesEverything() throws Exception {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM + " +wait");
				RedisServer replica = server.startReplica();
				RedisLockBackend first = backend(server, "s3cret", 1);
				RedisLockBackend second = backend(server, "s3cret", 0)) {
			assertThat(replica.isRunning()).isTrue();
			server.ask("acl", "log", "reset");
			Grant grant = ((Acquired) get(first.tryAcquire(claim(Duration.ZERO)))).grant();
			Claim waiting = claim(Duration.ofSeconds(9));
			Contended contended = (Contended) get(second.tryAcquire(waiting));
			assertThat(get(first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
			assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
			get(contended.signal());
			get(second.abandon(waiting));
			Grant reader = ((Acquired) get(second.tryAcquire(shared()))).grant();
			assertThat(get(second.renew(List.of(reader)))).first().isInstanceOf(RenewResult.Renewed.class);
			assertThat(get(second.release(reader))).isInstanceOf(ReleaseResult.Released.class);
			assertThat(server.ask("acl", "log")).isEmpty();
		}
	}

	@Test
	void permissionsAreDocumented() throws Exception {
		assertThat(Path.of("../docs/how-to/redis.md")).content()
			.contains("user app on >secret " + MINIMUM.replace("test:", "shop:"));
	}

	@Slow
	@Test
	void clusterNeedsOneMorePermission() throws Exception {
		try (RedisCluster cluster = RedisCluster.started("user app on >s3cret " + MINIMUM + " +cluster|nodes")) {
			RedisLockOptions options = TestRedis.options(0);
			try (RedisLockBackend backend = TestRedis
				.started(this.library.ofCluster(cluster.nodes().get(0), LOGIN, options), options)) {
				Grant grant = ((Acquired) get(backend.tryAcquire(claim(Duration.ZERO)))).grant();
				assertThat(get(backend.release(grant))).isInstanceOf(ReleaseResult.Released.class);
			}
		}
	}

	@Test
	void missingPermissionStopsTheStartWithTheRemedy() {
		try (RedisServer server = RedisServer
			.started("user app on >s3cret " + MINIMUM.replace("+zscore", "").replace("~test:*", "~other:*"))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> backend(server, "s3cret", 0))
				.withMessageContaining("Grant the user at least: " + MINIMUM);
		}
	}

	@Test
	void startThatLacksAPermissionLeavesNoKey() {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM)) {
			for (String command : List.of("pexpireat", "zrange", "zrem")) {
				server.ask("acl", "setuser", "app", "-" + command);
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> backend(server, "s3cret", 0));
				server.ask("acl", "setuser", "app", "+" + command);
				assertThat(server.keys("*")).as("keys that never expire, without " + command)
					.noneMatch((key) -> server.ask("pttl", key).equals("-1"));
			}
		}
	}

	/** Some Redis versions include {@code WAIT} in {@code @connection}. */
	@Test
	void missingPermissionToWaitForReplicasStopsTheStartWithTheRemedy() {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM + " -wait")) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> backend(server, "s3cret", 1))
				.withMessageContaining("+wait if 'wait-replicas' is set");
		}
	}

	@Test
	void permissionToWaitForReplicasTakenAwayLaterIsExplained() throws Exception {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM + " +wait");
				RedisLockBackend backend = backend(server, "s3cret", 1)) {
			server.ask("acl", "setuser", "app", "-wait");
			assertThat(get(backend.tryAcquire(claim(Duration.ZERO)))).isInstanceOfSatisfying(Indeterminate.class,
					(result) -> assertThat(result.cause())
						.hasMessageContaining("Lock 'guarded' was not confirmed by replicas")
						.hasMessageContaining("+wait if 'wait-replicas' is set"));
		}
	}

	@Test
	void missingChannelStopsTheStartWithTheRemedy() {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM.replace("&test:*", ""))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> backend(server, "s3cret", 0))
				.withMessageContaining("channel")
				.withMessageContaining("Grant the user at least: " + MINIMUM);
		}
	}

	@Test
	void permissionTakenAwayLaterIsExplained() throws Exception {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM);
				RedisLockBackend backend = backend(server, "s3cret", 0)) {
			server.ask("acl", "setuser", "app", "-set");
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> get(backend.tryAcquire(claim(Duration.ZERO))))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContaining("Lock 'guarded' could not be acquired: Redis at the test's server failed with")
				.withMessageContaining("script")
				.withMessageContaining("Grant the user at least");
		}
	}

	@Test
	void wrongPasswordIsNotShown(CapturedOutput output) {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM)) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> backend(server, "not-th1s", 0))
				.withMessageContaining("WRONGPASS")
				.withMessageContaining("Check the username and password")
				.satisfies((ex) -> assertThat(ex).hasStackTraceContaining("WRONGPASS"));
		}
		assertThat(output.getAll()).doesNotContain("not-th1s");
	}

	@Test
	void passwordThatIsChangedLaterIsExplained() throws Exception {
		try (RedisServer server = RedisServer.started("user app on >s3cret " + MINIMUM);
				RedisLockBackend backend = backend(server, "s3cret", 0)) {
			server.ask("acl", "setuser", "app", "resetpass", ">an0ther");
			server.ask("client", "kill", "type", "normal", "skipme", "yes");
			// until the client has connected again, the outcome of each attempt is
			// unknown
			Awaitility.await()
				.atMost(BOUND)
				.untilAsserted(() -> assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> get(backend.tryAcquire(claim(Duration.ZERO))))
					.havingCause()
					.withMessageContaining("Check the username and password"));
		}
	}

	@Test
	void evictionIsWarnedAbout(CapturedOutput output) {
		try (RedisServer server = RedisServer.started("maxmemory 100mb", "maxmemory-policy allkeys-lru");
				RedisLockBackend backend = this.library.backend(server.address())) {
			assertThat(backend.name()).isEqualTo("redis");
			assertThat(output.getAll()).contains("may evict locks").contains("allkeys-lru").contains("noeviction");
		}
	}

	@Test
	void failingLogDoesNotKeepAConnectionFromLocks() throws Exception {
		try (FailingLog log = FailingLog.ofPackage(RedisConnector.class);
				RedisServer server = RedisServer.started("maxmemory 100mb", "maxmemory-policy allkeys-lru");
				RedisLockBackend backend = this.library.backend(server.address())) {
			assertThat(get(backend.tryAcquire(claim(Duration.ZERO)))).isInstanceOf(Acquired.class);
		}
	}

	@Test
	void missingReplicasAreWarnedAboutAtTheStart(CapturedOutput output) {
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = this.library.backend(server.address(), TestRedis.options(1))) {
			assertThat(backend.name()).isEqualTo("redis");
			assertThat(output.getAll()).contains("'distributed-lock.redis.wait-replicas' is 1, but 0 replicas");
		}
	}

	@Test
	void disabledEvictionIsNotWarnedAbout(CapturedOutput output) {
		try (RedisServer server = RedisServer.started("maxmemory 100mb", "maxmemory-policy noeviction");
				RedisLockBackend backend = this.library.backend(server.address())) {
			assertThat(backend.name()).isEqualTo("redis");
			assertThat(output.getAll()).doesNotContain("evict");
		}
	}

	private RedisLockBackend backend(RedisServer server, String password, int waitReplicas) {
		RedisLockOptions options = TestRedis.patientOptions(waitReplicas);
		return TestRedis.started(this.library.client(server.address(), new Login("app", password), options), options);
	}

	private static Claim claim(Duration waitTime) {
		return new Claim(LockName.of("guarded"), OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), false,
				waitTime, false);
	}

	private static Claim shared() {
		return new Claim(LockName.of("guarded"), OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), false,
				Duration.ZERO, false);
	}

}
