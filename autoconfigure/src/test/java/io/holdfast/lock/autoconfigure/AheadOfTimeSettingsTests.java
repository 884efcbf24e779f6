package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.jdbc.AdvisoryLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests settings that have changed since the application was processed ahead of time. The
 * beans are those of the build, because conditions are not evaluated again.
 */
class AheadOfTimeSettingsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner();

	@Test
	void locksThatWereDisabledForTheBuildStopTheStart() {
		this.runner.withUserConfiguration(BuiltWithoutLocks.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("processed ahead of time", "'distributed-lock.enabled=false'"));
	}

	@Test
	void locksThatAreDisabledInTheBuildAndAtRunTimeAreOff() {
		this.runner.withUserConfiguration(BuiltWithoutLocks.class)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void advisoryModeThatTheBuildDidNotHaveStopsTheStart() {
		databaseRunner().withUserConfiguration(BuiltWithRows.class)
			.withPropertyValues("distributed-lock.jdbc.mode=advisory")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("processed ahead of time", "Set 'distributed-lock.jdbc.mode=advisory'"));
	}

	@Test
	void modeOfRowsThatTheBuildDidNotHaveStopsTheStart() {
		databaseRunner().withUserConfiguration(BuiltWithAdvisoryLocks.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("processed ahead of time", "Set 'distributed-lock.jdbc.mode=rows'"));
	}

	private ApplicationContextRunner databaseRunner() {
		return this.runner.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, DataSourceAutoConfiguration.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class BuiltWithoutLocks {

		@Bean
		SmartInitializingSingleton report(ConfigurableListableBeanFactory beanFactory, Environment environment) {
			return LocksDisabledAutoConfiguration.unlockedBeansReport(beanFactory, environment);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(JdbcLockProperties.class)
	static class BuiltWithRows {

		@Bean
		JdbcLockBackend rows(DistributedLockProperties locks, StartupChecks checks, JdbcLockProperties jdbc,
				ListableBeanFactory beanFactory, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
			return new JdbcLockAutoConfiguration().jdbcLockBackend(locks, checks, jdbc, beanFactory, pools);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(JdbcLockProperties.class)
	static class BuiltWithAdvisoryLocks {

		@Bean
		AdvisoryLockBackend advisory(DistributedLockProperties locks, StartupChecks checks, JdbcLockProperties jdbc,
				ListableBeanFactory beanFactory) {
			return new JdbcLockAutoConfiguration().advisoryLockBackend(locks, checks, jdbc, beanFactory);
		}

	}

}
