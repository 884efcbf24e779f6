package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisCluster;
import io.holdfast.lock.test.server.RedisSentinel;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.acquire;
import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.analysis;
import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.assertLocks;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the setups of Redis, TLS and passwords, with each library.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(value = RedisClientLibrary.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
class RedisConnectionSettingsTests {

	@AutoClose
	private static final RedisServer server = RedisServer.started();

	private final ApplicationContextRunner runner;

	private final ApplicationContextRunner shortWait;

	RedisConnectionSettingsTests(RedisClientLibrary library) {
		this.runner = RedisLockAutoConfigurationTests.runner(library);
		this.shortWait = this.runner.withPropertyValues("distributed-lock.startup-timeout=100ms");
	}

	@Test
	void springDataRedisIsUsedWhereItNamesAServer() {
		this.runner
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port(),
					"spring.data.redis.database=3")
			.run((context) -> {
				assertLocks(context, server);
				assertThat(server.ask("info", "keyspace")).contains("db3:keys=1,");
			});
	}

	/** As of a placeholder with an empty default. Spring Data Redis ignores it, too. */
	@Test
	void emptyLoginOfSpringDataRedisIsNone() {
		ApplicationContextRunner empty = this.runner.withPropertyValues("spring.data.redis.host=127.0.0.1",
				"spring.data.redis.username=");
		empty.withPropertyValues("spring.data.redis.port=" + server.port(), "spring.data.redis.password=")
			.run((context) -> assertLocks(context, server));
		try (RedisServer guarded = RedisServer.started("requirepass s3cr@t")) {
			empty.withPropertyValues("spring.data.redis.port=" + guarded.port(), "spring.data.redis.password=s3cr@t")
				.run((context) -> assertLocks(context, guarded));
		}
	}

	@Slow
	@Test
	void clusterOfSpringDataRedisIsUsed() {
		try (RedisCluster cluster = RedisCluster.started()) {
			this.runner
				.withPropertyValues("spring.data.redis.cluster.nodes[0]=127.0.0.1:" + cluster.nodes().get(1).port())
				.run((context) -> {
					assertThat(acquire(context.getBean(RedisLockBackend.class))).isInstanceOf(Acquired.class);
					assertThat(cluster.keys("holdfast:{auto:1}:lock")).hasSize(1);
				});
		}
	}

	@Test
	void sentinelOfSpringDataRedisIsUsed() {
		try (RedisSentinel group = RedisSentinel.started()) {
			this.runner
				.withPropertyValues("spring.data.redis.sentinel.master=" + RedisSentinel.MASTER,
						"spring.data.redis.sentinel.nodes=127.0.0.1:" + group.sentinel().port())
				.run((context) -> assertLocks(context, group.primary()));
		}
	}

	@Test
	void passwordPropertyIsUsed() {
		try (RedisServer guarded = RedisServer.started("requirepass s3cr@t")) {
			this.runner
				.withPropertyValues("distributed-lock.redis.address=" + guarded.address(),
						"distributed-lock.redis.password=s3cr@t")
				.run((context) -> assertLocks(context, guarded));
		}
	}

	@Test
	void tlsWithABundleIsUsed() {
		try (RedisServer secure = RedisServer.startedWithTls("requirepass s3cr@t")) {
			this.runner
				.withPropertyValues("distributed-lock.redis.address=" + secure.address(),
						"distributed-lock.redis.password=s3cr@t", "distributed-lock.redis.ssl.bundle=locks",
						"spring.ssl.bundle.pem.locks.truststore.certificate=" + secure.certificate().toUri())
				.run((context) -> assertLocks(context, secure));
		}
	}

	@Test
	void tlsOfSpringDataRedisIsUsed() {
		try (RedisServer secure = RedisServer.startedWithTls()) {
			this.runner
				.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + secure.port(),
						"spring.data.redis.ssl.bundle=locks",
						"spring.ssl.bundle.pem.locks.truststore.certificate=" + secure.certificate().toUri())
				.run((context) -> assertLocks(context, secure));
		}
	}

	@Test
	void untrustedCertificateIsReportedImmediately() {
		try (RedisServer secure = RedisServer.startedWithTls()) {
			this.runner
				.withPropertyValues("distributed-lock.redis.address=" + secure.address(),
						"distributed-lock.startup-timeout=1h")
				.run((context) -> assertThat(context).getFailure()
					.hasStackTraceContaining(LockConfigurationException.class.getName())
					.hasStackTraceContaining("Redis at 127.0.0.1:" + secure.port()
							+ " has a certificate that this application does not accept")
					.hasStackTraceContaining("Renew it if it has expired"));
		}
	}

	@Slow
	@Test
	void tlsAgainstPlainServerIsExplained() {
		this.shortWait.withPropertyValues("distributed-lock.redis.address=rediss://127.0.0.1:" + server.port())
			.run((context) -> assertThat(analysis(context).getDescription()).contains("127.0.0.1:" + server.port())
				.contains("whether it uses TLS"));
	}

	@Slow
	@Test
	void plainAgainstTlsServerIsExplained() {
		try (RedisServer secure = RedisServer.startedWithTls()) {
			this.shortWait.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:" + secure.port())
				.run((context) -> assertThat(analysis(context).getDescription()).contains("127.0.0.1:" + secure.port())
					.contains("whether it uses TLS"));
		}
	}

}
