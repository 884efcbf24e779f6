package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;

/**
 * Auto-configuration for the inspector of locks.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(LockEngine.class)
public final class LockInspectorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockInspector.class)
	EngineInspector lockInspector(EngineReference engine, LockBackends backends, ApplicationEventPublisher publisher) {
		return new EngineInspector(engine.get(), backends, publisher::publishEvent);
	}

}
