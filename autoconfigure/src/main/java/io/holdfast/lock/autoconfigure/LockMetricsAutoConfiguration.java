package io.holdfast.lock.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.observation.MicrometerLockObserver;

/**
 * Auto-configuration for lock meters, if there is a meter registry. Without a registry
 * the engine has no observer for meters.
 */
@AutoConfiguration(
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBooleanProperty(name = { "distributed-lock.enabled", "distributed-lock.metrics.enabled" },
		matchIfMissing = true)
@EnableConfigurationProperties(LockMetricsProperties.class)
public final class LockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MicrometerLockObserver micrometerLockObserver(MeterRegistry registry, LockMetricsProperties properties) {
		return new MicrometerLockObserver(registry, properties.maxNames());
	}

}
