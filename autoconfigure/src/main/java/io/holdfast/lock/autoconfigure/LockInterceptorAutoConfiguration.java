package io.holdfast.lock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.interceptor.DistributedLockBeanPostProcessor;
import io.holdfast.lock.interceptor.LockChainVerifier;
import io.holdfast.lock.interceptor.LockSupportVerifier;

/**
 * Puts locks around the methods that ask for them.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
public final class LockInterceptorAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockSupportVerifier lockSupportVerifier(ObjectProvider<LockBackends> backends) {
		return new LockSupportVerifier(backends::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockBeanPostProcessor distributedLockBeanPostProcessor(LockSupportVerifier support) {
		return new DistributedLockBeanPostProcessor(support);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockChainVerifier lockChainVerifier() {
		return new LockChainVerifier();
	}

}
