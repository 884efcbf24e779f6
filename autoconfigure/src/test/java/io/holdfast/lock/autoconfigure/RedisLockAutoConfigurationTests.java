package io.holdfast.lock.autoconfigure;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ParameterizedClass(name = "{0}")
@MethodSource("libraries")
@ExtendWith(OutputCaptureExtension.class)
class RedisLockAutoConfigurationTests {

	@AutoClose
	private static final RedisServer server = RedisServer.started();

	private final ApplicationContextRunner runner;

	private final ApplicationContextRunner shortWait;

	static Stream<RedisClientLibrary> libraries() {
		return Boolean.getBoolean("thorough") ? Stream.of(RedisClientLibrary.REDISSON, RedisClientLibrary.LETTUCE)
				: Stream.of(RedisClientLibrary.REDISSON);
	}

	RedisLockAutoConfigurationTests(RedisClientLibrary library) {
		this.runner = runner(library);
		this.shortWait = this.runner.withPropertyValues("distributed-lock.startup-timeout=100ms");
	}

	/** Returns an application with one of the libraries. */
	static ApplicationContextRunner runner(RedisClientLibrary library) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
					RedisLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
					DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.redis.client=" + library);
	}

	@Test
	void addressIsUsed() {
		this.runner.withPropertyValues("distributed-lock.redis.address=" + server.address()).run((context) -> {
			assertThat(context).hasSingleBean(RedisLockBackend.class);
			assertThat(context).doesNotHaveBean(RedissonClient.class);
			assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("redis");
			assertLocks(context, server);
		});
	}

	@Test
	void waitForReplicasBeyondTheResponseTimeoutStopsTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"distributed-lock.redis.wait-replicas=1", "distributed-lock.redis.wait-replicas-timeout=2s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.redis.wait-replicas-timeout' is 2s")
				.hasMessageContaining("'distributed-lock.response-timeout' (1s)"));
	}

	@Test
	void unreachableClusterAndSentinelAreExplained() {
		int port = ServerProcess.freePort();
		this.shortWait.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + port)
			.run((context) -> assertThat(analysis(context).getDescription()).contains("'spring.data.redis'")
				.contains("the cluster of 127.0.0.1:" + port));
		this.shortWait
			.withPropertyValues("spring.data.redis.sentinel.master=shop",
					"spring.data.redis.sentinel.nodes=127.0.0.1:" + port)
			.run((context) -> assertThat(analysis(context).getDescription()).contains("'spring.data.redis'")
				.contains("master 'shop' of the sentinels 127.0.0.1:" + port));
	}

	@Test
	void backsOffWhereLocksAreDisabled() {
		this.runner
			.withPropertyValues("distributed-lock.enabled=false", "distributed-lock.redis.address=" + server.address())
			.run((context) -> assertThat(context).doesNotHaveBean(RedisLockBackend.class));
	}

	@Test
	void redisWithoutAnAddressIsExplained() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, RedisLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=redis")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Set 'distributed-lock.redis.address'")
				.hasMessageContaining("RedissonClient"));
	}

	@Test
	void unreachableServerIsExplained() {
		int port = ServerProcess.freePort();
		this.runner
			.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:" + port,
					"distributed-lock.startup-timeout=1s")
			.run((context) -> {
				FailureAnalysis analysis = analysis(context);
				assertThat(analysis.getDescription()).contains("'distributed-lock.redis.address'")
					.contains("127.0.0.1:" + port)
					.containsIgnoringCase("refused");
				assertThat(analysis.getAction()).contains("Start that Redis")
					.contains("distributed-lock.fail-fast=false")
					.contains("'distributed-lock.backend'", "'local' if there is only one instance");
			});
	}

	@Slow
	@Test
	void silentServerIsExplained() {
		try (RedisServer paused = RedisServer.started()) {
			paused.pause();
			this.shortWait.withPropertyValues("distributed-lock.redis.address=" + paused.address())
				.run((context) -> assertThat(analysis(context).getDescription())
					.contains("Redis at 127.0.0.1:" + paused.port() + " could not be reached: no response in time"));
		}
	}

	@Test
	void startsWithoutServerIfAllowedAndLocksOnceItStarts(CapturedOutput output) {
		try (RedisServer late = RedisServer.started()) {
			late.stop();
			this.runner
				.withPropertyValues("distributed-lock.fail-fast=false",
						"distributed-lock.redis.address=" + late.address())
				.run((context) -> {
					RedisLockBackend backend = context.getBean(RedisLockBackend.class);
					assertThat(output).contains("'redis' is not checked at startup");
					assertThat(acquire(backend)).isInstanceOf(AcquireResult.Indeterminate.class);
					late.start();
					assertLocks(context, late);
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis://:s3cr%%40t@127.0.0.1:%d", "redis://default:s3cr%%40t@127.0.0.1:%d/0" })
	void credentialsInTheAddressAreUsed(String address) {
		try (RedisServer guarded = RedisServer.started("requirepass s3cr@t")) {
			this.runner
				.withPropertyValues("distributed-lock.redis.address=" + address.formatted(guarded.port()),
						"distributed-lock.redis.username=", "distributed-lock.redis.password=")
				.run((context) -> assertLocks(context, guarded));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis://app:wr0ng-one@127.0.0.1:%d", "redis://wr0ng-one@127.0.0.1:%d",
			"redis://app:wr0ng-one@127.0.0.1:%d/nonsense" })
	void wrongPasswordIsExplainedAndNotShown(String address, CapturedOutput output) {
		try (RedisServer guarded = RedisServer.started("requirepass s3cr@t")) {
			this.shortWait.withPropertyValues("distributed-lock.redis.address=" + address.formatted(guarded.port()))
				.run((context) -> {
					assertThat(context).hasFailed();
					assertThat(context).getFailure().hasStackTraceContaining("127.0.0.1:" + guarded.port());
					assertThat(stackTrace(context)).doesNotContain("wr0ng-one");
					assertThat(output.getAll()).doesNotContain("wr0ng-one");
				});
		}
	}

	@Test
	void missingPasswordIsExplained() {
		try (RedisServer guarded = RedisServer.started("requirepass s3cr@t")) {
			this.runner.withPropertyValues("distributed-lock.redis.address=" + guarded.address())
				.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("NOAUTH")
					.hasStackTraceContaining("Check the username and password"));
		}
	}

	@Test
	void databaseThatDoesNotExistIsNamed() {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"distributed-lock.redis.database=99")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Set an existing database in 'distributed-lock.redis.database'"));
	}

	@ParameterizedTest
	@CsvSource({ "redis://127.0.0.1:1/1,database,2", "redis://:hidden-a@127.0.0.1:1,password,hidden-b",
			"redis://app:hidden-a@127.0.0.1:1,username,other" })
	void valueThatDiffersFromTheAddressStopsTheStart(String address, String setting, String value) {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + address,
					"distributed-lock.redis.%s=%s".formatted(setting, value))
			.run((context) -> {
				assertThat(context).getFailure()
					.rootCause()
					.hasMessageContaining(
							"'distributed-lock.redis.address' and 'distributed-lock.redis.%s' contain different values"
								.formatted(setting));
				assertThat(stackTrace(context)).doesNotContain("hidden-");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1:6379", "http://h:1", "redis://u:hidden-pw@ho st:1", "u:hidden-pw@host:1",
			"redis://u:hidden-pw@h:0", "redis://u:hidden-pw@h:65536", "redis://u:hidden-pw@h:1/9999999999" })
	void badAddressIsExplainedWithoutItsPassword(String address) {
		this.runner.withPropertyValues("distributed-lock.redis.address=" + address).run((context) -> {
			assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.redis.address'")
				.hasMessageContaining("redis://host:port");
			assertThat(stackTrace(context)).doesNotContain("hidden-pw");
		});
	}

	@ParameterizedTest
	@CsvSource({ "username,app", "password,hidden-pw", "database,1", "ssl.bundle,locks" })
	void settingOfTheAddressWithoutAnAddressStopsTheStart(String setting, String value) {
		this.runner
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port(),
					"distributed-lock.redis.%s=%s".formatted(setting, value))
			.run((context) -> {
				assertThat(context).getFailure()
					.rootCause()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining(
							"'distributed-lock.redis.%s' is set, but 'distributed-lock.redis.address' is not"
								.formatted(setting));
				assertThat(stackTrace(context)).doesNotContain("hidden-pw");
			});
	}

	@Test
	void usernameIsUsedWithThePasswordOfTheAddress() {
		try (RedisServer guarded = RedisServer.started("requirepass other", "user app on >s3cr@t ~* &* +@all")) {
			this.runner
				.withPropertyValues("distributed-lock.redis.address=redis://:s3cr%40t@127.0.0.1:" + guarded.port(),
						"distributed-lock.redis.username=app")
				.run((context) -> assertThat(acquire(context.getBean(RedisLockBackend.class)))
					.isInstanceOf(Acquired.class));
		}
	}

	@Test
	void usernameWithoutAPasswordStopsTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"distributed-lock.redis.username=app")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.redis.username' is 'app', but"));
	}

	@Test
	void negativeDatabaseStopsTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(),
					"distributed-lock.redis.database=-1", "distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.redis.database' is -1"));
	}

	@Test
	void failedStartLeavesNoThread() {
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		this.runner
			.withPropertyValues("distributed-lock.redis.address=" + server.address(), "distributed-lock.namespace=a{b")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("contains no braces"));
		await().untilAsserted(
				() -> assertThat(Thread.getAllStackTraces().keySet()).filteredOn((thread) -> !before.contains(thread))
					.extracting(Thread::getName)
					.noneMatch((name) -> name.startsWith("redisson-") || name.startsWith("lettuce-")));
	}

	@Test
	void propertiesDoNotShowSecrets() {
		RedisLockProperties properties = new RedisLockProperties("redis://u:hidden-pw@host:1", RedisClientLibrary.AUTO,
				"u", "hidden-pw", 0, Duration.ofSeconds(1), 0, Duration.ofSeconds(1), new LockSsl(null));
		assertThat(properties.toString()).doesNotContain("hidden-pw").contains("redis://***@host:1");
	}

	static void assertLocks(AssertableApplicationContext context, RedisServer where) throws Exception {
		RedisLockBackend backend = context.getBean(RedisLockBackend.class);
		AcquireResult result = acquire(backend);
		assertThat(result).isInstanceOf(Acquired.class);
		assertThat(where.ask("info", "keyspace")).contains("db");
		Grant grant = ((Acquired) result).grant();
		backend.release(grant).toCompletableFuture().get(5, TimeUnit.SECONDS);
	}

	static AcquireResult acquire(RedisLockBackend backend) throws Exception {
		Claim claim = new Claim(LockName.of("auto", "1"), OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30),
				false, Duration.ZERO, false);
		return backend.tryAcquire(claim).toCompletableFuture().get(10, TimeUnit.SECONDS);
	}

	static FailureAnalysis analysis(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		FailureAnalysis analysis = new StoreUnavailableFailureAnalyzer().analyze(context.getStartupFailure());
		assertThat(analysis).as("analysis of %s", stackTrace(context)).isNotNull();
		return analysis;
	}

	private static String stackTrace(AssertableApplicationContext context) {
		StringWriter text = new StringWriter();
		context.getStartupFailure().printStackTrace(new PrintWriter(text));
		return text.toString();
	}

}
