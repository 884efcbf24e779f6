package io.holdfast.lock.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;

class LockMetricsAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local")
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockMetricsAutoConfiguration.class));

	@Test
	void locksAreMeteredInTheRegistryOfBoot() {
		this.runner
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
					assertThat(handle.isHeld()).isTrue();
					assertThat(registry.get("distributed.lock.held").tag("name", "stock").gauge().value()).isEqualTo(1);
				}
				assertThat(registry.get("distributed.lock.hold").timer().count()).isEqualTo(1);
			});
	}

	@Test
	void nobodyIsToldWithoutARegistry() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

	@Test
	void micrometerNeedNotBeThere() {
		this.runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

	@Test
	void nothingIsMeteredWhereLocksAreSwitchedOff() {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

}
