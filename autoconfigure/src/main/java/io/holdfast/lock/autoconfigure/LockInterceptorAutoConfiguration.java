package io.holdfast.lock.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.TransactionFence;
import io.holdfast.lock.interceptor.BackendCapabilityVerifier;
import io.holdfast.lock.interceptor.ChildContextVerifier;
import io.holdfast.lock.interceptor.DistributedLockBeanPostProcessor;
import io.holdfast.lock.interceptor.FenceBeanPostProcessor;
import io.holdfast.lock.interceptor.LifecycleMethodVerifier;
import io.holdfast.lock.interceptor.LockChainVerifier;
import io.holdfast.lock.transaction.MethodTransactions;

/**
 * Auto-configuration for annotated methods: proxies them with their locks and verifies
 * them.
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
public final class LockInterceptorAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BackendCapabilityVerifier backendCapabilityVerifier(ObjectProvider<LockBackends> backends,
			ObjectProvider<DistributedLockProperties> properties, ObjectProvider<Fence> fence,
			ObjectProvider<StartupChecks> checks, ListableBeanFactory beanFactory) {
		return new BackendCapabilityVerifier(backends::getObject, () -> leaseTime(properties.getIfAvailable()),
				(method, type) -> {
					boolean here = beanFactory.getBeanNamesForType(FenceBeanPostProcessor.class, true,
							false).length > 0;
					return unfencedReason(fence.getIfAvailable(), here, method, type, beanFactory);
				}, (backend) -> checks.ifAvailable((present) -> present.require(backend)));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockBeanPostProcessor distributedLockBeanPostProcessor(BackendCapabilityVerifier support) {
		return new DistributedLockBeanPostProcessor(support);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LifecycleMethodVerifier lifecycleMethodVerifier() {
		return new LifecycleMethodVerifier();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockChainVerifier lockChainVerifier() {
		return new LockChainVerifier();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ChildContextVerifier childContextVerifier() {
		return new ChildContextVerifier();
	}

	private static @Nullable Duration leaseTime(@Nullable DistributedLockProperties properties) {
		return (properties != null) ? properties.leaseTime() : null;
	}

	/**
	 * Returns why the transaction of a method is not fenced, or {@code null} if it is.
	 * The fence may belong to a parent context, whose post-processor does not see the
	 * beans of this context.
	 */
	private static @Nullable String unfencedReason(@Nullable Fence fence, boolean here, Method method, Class<?> type,
			BeanFactory beanFactory) {
		if (fence == null) {
			return "Spring JDBC or transaction support is missing. Add 'spring-boot-starter-jdbc', or remove 'fenced'";
		}
		if (here && fence instanceof TransactionFence) {
			String never = new MethodTransactions(beanFactory).unfencedReason(method, type);
			return (never != null) ? never : fence.unfencedReason(method, type);
		}
		return here ? fence.unfencedReason(method, type)
				: "this application context is a child without FencingAutoConfiguration. Import it there, or remove 'fenced'";
	}

}
