package io.holdfast.lock.autoconfigure;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.actuate.LockInfoContributor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockInfoAutoConfiguration}.
 */
class LockInfoAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=2s")
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInfoAutoConfiguration.class));

	private static Map<String, Object> info(LockInfoContributor contributor) {
		Info.Builder builder = new Info.Builder();
		contributor.contribute(builder);
		return builder.build().getDetails();
	}

	@Test
	void backendsAndDefaultsAreInTheInfo() {
		this.runner.run((context) -> assertThat(info(context.getBean(LockInfoContributor.class))).isEqualTo(Map.of(
				"distributedLocks",
				Map.of("defaultBackend", "local", "backends", Set.of("local"), "waitTime", "2s", "leaseTime", "30s"))));
	}

	@Test
	void stickyLeasesAreInTheInfo() {
		this.runner.withPropertyValues("distributed-lock.sticky=500ms")
			.run((context) -> assertThat(info(context.getBean(LockInfoContributor.class)))
				.extractingByKey("distributedLocks")
				.hasFieldOrPropertyWithValue("sticky", "500ms"));
	}

	@Test
	void fencingIsInTheInfoIfThereAreTransactions() {
		this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, FencingAutoConfiguration.class))
			.run((context) -> assertThat(info(context.getBean(LockInfoContributor.class)))
				.extractingByKey("distributedLocks")
				.hasFieldOrPropertyWithValue("fencing", true));
	}

	@Test
	void propertyDisablesTheInfo() {
		this.runner.withPropertyValues("management.info.distributedlocks.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockInfoContributor.class));
	}

	@Test
	void actuatorIsOptional() {
		this.runner.withClassLoader(new FilteredClassLoader(InfoContributor.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("distributedLocksInfoContributor"));
	}

}
