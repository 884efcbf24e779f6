package io.holdfast.lock.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

import io.holdfast.lock.observation.LockObservationContext;
import io.holdfast.lock.observation.MicrometerLockObserver;

/**
 * Auto-configuration for lock meters, if there is a meter registry. Without a registry
 * the engine has no observer for meters.
 */
@AutoConfiguration(
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnLocksEnabled("metrics.enabled")
@EnableConfigurationProperties(LockMetricsProperties.class)
public final class LockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MicrometerLockObserver micrometerLockObserver(MeterRegistry registry, LockMetricsProperties properties) {
		return new MicrometerLockObserver(registry, properties.maxNames());
	}

	@Bean
	@Order(0)
	@ConditionalOnMissingBean(name = "lockMeterObservationHandler")
	MeterObservationHandler<LockObservationContext> lockMeterObservationHandler() {
		return new NoDerivedMeters();
	}

	/**
	 * Takes the place of the handler that derives meters from observations, for those of
	 * locks only. Derived meters would repeat the lock meters, at several times the cost.
	 */
	private static final class NoDerivedMeters implements MeterObservationHandler<LockObservationContext> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof LockObservationContext;
		}

	}

}
