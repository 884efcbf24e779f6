package io.holdfast.lock.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.backend.redlock.RedlockLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class RedlockLockAutoConfigurationTests {

	private static final List<RedisServer> servers = Stream
		.generate(() -> RedisServer.started("requirepass not-to-be-seen"))
		.limit(3)
		.toList();

	private static final String PERMISSIONS = "~shop:* &shop:* +@connection +eval +evalsha +info +time +get +set +del +pexpire +pexpireat +pttl +hget +hmget +hset +hdel +zadd +zrem +zrange +zrangebyscore +zremrangebyscore +publish +subscribe +unsubscribe";

	/** An entry of the log of access control, whose group is the key or command. */
	private static final Pattern DENIED = Pattern.compile("object\n(.*)\nusername\napp\n");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, RedisLockAutoConfiguration.class,
				RedlockLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.redlock.password=not-to-be-seen",
				"distributed-lock.redlock.node-timeout=500ms");

	@AfterAll
	static void close() {
		servers.forEach(RedisServer::close);
	}

	@Slow
	@Test
	void newNodesVoteAfterTheLongestLease() {
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.lease-time=2100ms", "distributed-lock.wait-time=10s")
			.run((context) -> {
				assertThat(context).hasSingleBean(RedlockLockBackend.class).doesNotHaveBean(RedisLockBackend.class);
				assertThat(context).doesNotHaveBean(RedissonClient.class);
				assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("redlock");
				try (LockHandle lock = context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "1"))) {
					assertThat(lock.fencingToken().value()).isPositive();
				}
			});
	}

	@Slow
	@ParameterizedTest
	@EnumSource(value = RedisClientLibrary.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
	void permissionsOfTheHowToAreEnough(RedisClientLibrary library, CapturedOutput output) {
		servers.forEach((node) -> node.ask(("acl setuser app on >not-to-be-seen " + PERMISSIONS).split(" ")));
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.username=app",
					"distributed-lock.redlock.client=" + library, "distributed-lock.namespace=shop",
					"distributed-lock.lease-time=2100ms", "distributed-lock.wait-time=10s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsIgnoringCase("Lock backend 'redlock' uses " + library);
				context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "3")).close();
				assertThat(servers).flatExtracting(RedlockLockAutoConfigurationTests::deniedTo)
					.as("denied keys, but that of Redisson's own probe")
					.isSubsetOf("test1");
			});
	}

	@Test
	void usernameIsUsedWithThePasswordOfAnAddress() {
		servers.forEach((node) -> node.ask(("acl setuser named on >of-the-address " + PERMISSIONS).split(" ")));
		this.runner
			.withPropertyValues(
					"distributed-lock.redlock.nodes=" + servers.stream()
						.map((node) -> "redis://:of-the-address@127.0.0.1:" + node.port())
						.collect(Collectors.joining(",")),
					"distributed-lock.redlock.username=named", "distributed-lock.namespace=shop",
					"distributed-lock.lease-time=2100ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "quarantine-wait", "longest-lease" })
	void negativeTimeStopsTheStart(String setting) {
		this.runner.withPropertyValues(nodes(servers), "distributed-lock.redlock.%s=-1s".formatted(setting))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.redlock.%s' is -1s".formatted(setting)));
	}

	private static List<String> deniedTo(RedisServer node) {
		return DENIED.matcher(node.ask("acl", "log")).results().map((entry) -> entry.group(1)).toList();
	}

	@Test
	void missingPermissionToSubscribeIsReported(CapturedOutput output) {
		servers.forEach(
				(node) -> node.ask(("acl setuser deaf on >not-to-be-seen " + PERMISSIONS + " -subscribe").split(" ")));
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.username=deaf",
					"distributed-lock.namespace=shop", "distributed-lock.lease-time=2100ms",
					"distributed-lock.wait-time=10s")
			.run((context) -> {
				context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "4")).close();
				Awaitility.await()
					.untilAsserted(() -> assertThat(output).contains("rejects the subscription to 'shop:wake:*'"));
			});
	}

	@Slow
	@Test
	void missingPermissionStopsTheStartWithTheList() {
		servers
			.forEach((node) -> node.ask(("acl setuser poor on >not-to-be-seen " + PERMISSIONS + " -info").split(" ")));
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.username=poor",
					"distributed-lock.namespace=shop")
			.run((context) -> assertThat(analysis(context.getStartupFailure()).getDescription()).contains(PERMISSIONS));
	}

	@Test
	void fewOrEvenlyManyNodesAreRefused() {
		this.runner.withPropertyValues("distributed-lock.backend=redlock")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.redlock.nodes' lists 0 nodes"));
		this.runner.withPropertyValues("distributed-lock.redlock.nodes=redis://a:1,redis://b:1,redis://c:1,redis://d:1")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("tolerate no more failures than 3"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis://a:1,redis://b:1,", "a,b,c" })
	void nodeThatIsNoAddressIsRefused(String nodes) {
		this.runner.withPropertyValues("distributed-lock.redlock.nodes=" + nodes)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("which is not a Redis address. Use redis://host:port"));
	}

	@Test
	void sameAddressTwiceIsRefused() {
		this.runner.withPropertyValues("distributed-lock.redlock.nodes=redis://a:1,redis://b:1,redis://u:p@a:1")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("lists a:1 twice"));
	}

	@Test
	void sameServerUnderTwoAddressesIsRefused() {
		this.runner
			.withPropertyValues("distributed-lock.redlock.nodes=%s,%s,redis://localhost:%d"
				.formatted(servers.get(0).address(), servers.get(1).address(), servers.get(0).port()))
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("are the same Redis"));
	}

	@Test
	void unreachableMajorityStopsTheStartWithTheRemedy() {
		long start = System.nanoTime();
		this.runner
			.withPropertyValues(
					"distributed-lock.redlock.nodes=%s,redis://127.0.0.1:%d,redis://127.0.0.1:%d"
						.formatted(servers.get(0).address(), ServerProcess.freePort(), ServerProcess.freePort()),
					"distributed-lock.startup-timeout=100ms")
			.run((context) -> {
				FailureAnalysis analysis = analysis(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("1 of 3 Redis nodes can be used, and 2 are required")
					.contains(servers.get(0).port() + " is fine")
					.contains("'distributed-lock.redlock.connection-timeout'", "'distributed-lock.response-timeout'")
					.doesNotContain("node-timeout");
				assertThat(analysis.getAction()).contains("'distributed-lock.fail-fast=false'");
			});
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(6));
	}

	@Test
	void wrongPasswordStopsTheStartAndIsNotShown(CapturedOutput output) {
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.password=a-secret",
					"distributed-lock.startup-timeout=100ms")
			.run((context) -> {
				FailureAnalysis analysis = analysis(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("WRONGPASS")
					.contains("Check the user, password and permissions");
				assertThat(output).doesNotContain("a-secret");
			});
	}

	@Test
	void unreachableMinorityIsOnlyReported(CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.redlock.restart-quarantine=false",
					"distributed-lock.redlock.nodes=%s,%s,redis://127.0.0.1:%d".formatted(servers.get(0).address(),
							servers.get(1).address(), ServerProcess.freePort()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("2 of 3 Redis nodes can be used");
			});
	}

	@Test
	void startsWithoutNodesAndUsesThemOnceTheyStart() {
		List<RedisServer> sleeping = Stream.generate(() -> RedisServer.started("requirepass not-to-be-seen"))
			.limit(3)
			.toList();
		sleeping.forEach(RedisServer::kill);
		this.runner
			.withPropertyValues(nodes(sleeping), "distributed-lock.fail-fast=false",
					"distributed-lock.redlock.restart-quarantine=false", "distributed-lock.wait-time=300ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				sleeping.forEach(RedisServer::start);
				LockOperations locks = context.getBean(LockOperations.class);
				Awaitility.await()
					.ignoreExceptions()
					.untilAsserted(() -> locks.acquire(LockRequest.of("auto", "2")).close());
			});
		sleeping.forEach(RedisServer::close);
	}

	@ParameterizedTest
	@ValueSource(strings = { "pexpireat", "zrange" })
	void startThatLacksAPermissionLeavesNoKey(String command) {
		servers.forEach(
				(node) -> node.ask(("acl setuser less on >not-to-be-seen " + PERMISSIONS + " -" + command).split(" ")));
		this.runner
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.username=less",
					"distributed-lock.namespace=shop", "distributed-lock.startup-timeout=100ms")
			.run((context) -> assertThat(context).hasFailed());
		assertThat(servers).flatExtracting((node) -> node.keys("shop:{probe:*"))
			.noneMatch((key) -> servers.get(0).ask("pttl", key).equals("-1"));
	}

	@Test
	void nodeThatRejectsTheLoginIsReportedWithTheRemedy(CapturedOutput output) {
		try (RedisServer other = RedisServer.started("requirepass another")) {
			assertReportedAtStart(other, output, "Check the user, password and permissions");
		}
	}

	@Test
	void nodeWithAnUntrustedCertificateIsReportedWithTheRemedy(CapturedOutput output) {
		try (RedisServer other = RedisServer.startedWithTls("requirepass not-to-be-seen")) {
			assertReportedAtStart(other, output, "'distributed-lock.redlock.ssl.bundle'");
		}
	}

	private void assertReportedAtStart(RedisServer other, CapturedOutput output, String remedy) {
		this.runner
			.withPropertyValues("distributed-lock.redlock.restart-quarantine=false",
					nodes(List.of(servers.get(0), servers.get(1), other)))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("2 of 3 Redis nodes can be used", remedy)
			.doesNotContain("Check that the nodes are running");
	}

	@Slow
	@Test
	void lettuceSufficesWithTlsAndLogin() throws IOException {
		try (RedisServer first = RedisServer.startedWithTls("requirepass s3cr@t", "user app on >s3cr@t ~* &* +@all");
				RedisServer second = RedisServer.startedWithTls("requirepass s3cr@t");
				RedisServer third = RedisServer.startedWithTls("requirepass s3cr@t")) {
			this.runner.withClassLoader(new FilteredClassLoader("org.redisson", "org.springframework.data.redis"))
				.withPropertyValues("distributed-lock.redlock.restart-quarantine=false",
						"distributed-lock.redlock.password=s3cr@t",
						nodes(List.of(first, second, third)).replaceFirst("//", "//app:s3cr%40t@") + "/2",
						"distributed-lock.redlock.ssl.bundle=locks")
				.withPropertyValues(
						"spring.ssl.bundle.pem.locks.truststore.certificate=" + certificates(first, second, third))
				.run((context) -> {
					try (LockHandle lock = context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "5"))) {
						assertThat(lock.isHeld()).isTrue();
						assertThat(first.ask("client", "list")).contains("name=holdfast", "user=app");
						assertThat(third.ask("info", "keyspace")).contains("db2:keys=");
					}
				});
		}
	}

	@ParameterizedTest
	@EnumSource(value = RedisClientLibrary.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
	void nodesShareThreadsThatEndWithTheApplication(RedisClientLibrary library) {
		this.runner.withPropertyValues("distributed-lock.redlock.restart-quarantine=false", nodes(servers))
			.withPropertyValues("distributed-lock.redlock.client=" + library)
			.run((context) -> {
				context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "6")).close();
				assertThat(threadsOfNodes()).isNotEmpty()
					// one for requests, and one for everything else
					.hasSizeLessThanOrEqualTo(2 * RedisClients.threadsOfNodes());
			});
		Awaitility.await().untilAsserted(() -> assertThat(threadsOfNodes()).isEmpty());
	}

	private static List<Thread> threadsOfNodes() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith(RedisClients.THREADS_OF_NODES))
			.toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "-1s", "0s", "60d" })
	void impossibleConnectionTimeoutIsRefused(String timeout) {
		this.runner.withPropertyValues(nodes(servers), "distributed-lock.redlock.connection-timeout=" + timeout)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.redlock.connection-timeout' is ")
				.hasMessageContaining("Set at least 1ms and at most 600s"));
	}

	@Test
	void libraryThatIsMissingIsNamed() {
		ApplicationContextRunner named = this.runner.withPropertyValues("distributed-lock.backend=redlock");
		named.withClassLoader(new FilteredClassLoader("org.redisson", "io.lettuce"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Add the dependency 'org.redisson:redisson' or 'io.lettuce:lettuce-core'"));
		named.withClassLoader(new FilteredClassLoader("org.redisson", "io.lettuce"))
			.withPropertyValues("distributed-lock.redlock.client=Lettuce")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Add the dependency 'io.lettuce:lettuce-core' and set"));
		named.withClassLoader(new FilteredClassLoader("io.lettuce"))
			.withPropertyValues(nodes(servers), "distributed-lock.redlock.client=lettuce")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.redlock.client' is 'lettuce', but")
				.hasMessageContaining("'io.lettuce:lettuce-core', or remove the property"));
	}

	/** Returns the certificates of servers in PEM format. */
	private static String certificates(RedisServer... servers) throws IOException {
		StringBuilder certificates = new StringBuilder();
		for (RedisServer server : servers) {
			certificates.append(Files.readString(server.certificate()));
		}
		return certificates.toString();
	}

	private static String nodes(List<RedisServer> servers) {
		return "distributed-lock.redlock.nodes="
				+ servers.stream().map(RedisServer::address).collect(Collectors.joining(","));
	}

	private static FailureAnalysis analysis(Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof StoreUnavailableException)) {
			assertThat(cause).isNotNull();
			cause = cause.getCause();
		}
		FailureAnalysis analysis = new StoreUnavailableFailureAnalyzer().analyze(failure);
		assertThat(analysis).isNotNull();
		return analysis;
	}

}
