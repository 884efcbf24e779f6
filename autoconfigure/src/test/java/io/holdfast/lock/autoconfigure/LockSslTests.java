package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockSsl}.
 */
class LockSslTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "redis|address=rediss://127.0.0.1:1",
					"redlock|nodes=rediss://127.0.0.1:1,rediss://127.0.0.1:2,rediss://127.0.0.1:3",
					"etcd|endpoints=https://127.0.0.1:1" })
	void missingBundleIsExplainedWithTheProperty(String store, String address) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, RedisLockAutoConfiguration.class,
					RedlockLockAutoConfiguration.class, EtcdLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.%s.%s".formatted(store, address),
					"distributed-lock.%s.ssl.bundle=nope".formatted(store))
			.run((context) -> assertThat(new LockConfigurationFailureAnalyzer().analyze(context.getStartupFailure()))
				.isNotNull()
				.satisfies((analysis) -> assertThat(analysis.getDescription())
					.contains("The property 'distributed-lock.%s.ssl.bundle' is 'nope'".formatted(store)))
				.satisfies((analysis) -> assertThat(analysis.getAction()).contains("'spring.ssl.bundle'"))
				.satisfies(
						(analysis) -> assertThat(analysis.getCause()).isInstanceOf(LockConfigurationException.class)));
	}

}
