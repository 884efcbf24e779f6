package io.holdfast.lock.autoconfigure;

import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.observation.LockObservationConvention;
import io.holdfast.lock.observation.ObservationLockObserver;

/**
 * Auto-configuration for the observation of locks, if there is an observation registry.
 */
@AutoConfiguration(
		afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnSingleCandidate(ObservationRegistry.class)
@ConditionalOnLocksEnabled
public final class LockObservationAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ObservationLockObserver observationLockObserver(ObservationRegistry registry,
			ObjectProvider<LockObservationConvention> convention) {
		return new ObservationLockObserver(registry, convention.getIfAvailable());
	}

}
