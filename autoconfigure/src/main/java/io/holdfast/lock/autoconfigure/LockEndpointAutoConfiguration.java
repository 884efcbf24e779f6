package io.holdfast.lock.autoconfigure;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.actuate.DistributedLocksEndpoint;
import io.holdfast.lock.actuate.DistributedLocksEndpointWebExtension;
import io.holdfast.lock.engine.LockBackends;

/**
 * Auto-configuration for the Actuator endpoint {@code distributedlocks}.
 */
@AutoConfiguration(after = LockInspectorAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnLocksEnabled
@ConditionalOnAvailableEndpoint(DistributedLocksEndpoint.class)
@ConditionalOnBean(LockInspector.class)
public final class LockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DistributedLocksEndpoint distributedLocksEndpoint(LockInspector inspector, LockBackends backends,
			ApplicationEventPublisher publisher) {
		return new DistributedLocksEndpoint(inspector, backends, publisher);
	}

	@Bean
	@ConditionalOnMissingBean
	DistributedLocksEndpointWebExtension distributedLocksEndpointWebExtension(DistributedLocksEndpoint endpoint) {
		return new DistributedLocksEndpointWebExtension(endpoint);
	}

}
