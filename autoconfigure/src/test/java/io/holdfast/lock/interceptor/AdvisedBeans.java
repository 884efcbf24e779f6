package io.holdfast.lock.interceptor;

import java.util.Arrays;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.AbstractRetryInterceptor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications whose beans have several kinds of advice.
 */
final class AdvisedBeans {

	private AdvisedBeans() {
	}

	static ApplicationContextRunner runner(Class<?>... configurations) {
		return LocalLocks.runner()
			.withConfiguration(
					AutoConfigurations.of(LockTransactionAutoConfiguration.class, TransactionAutoConfiguration.class,
							DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:order")
			.withUserConfiguration(configurations);
	}

	static List<String> chain(Object bean) {
		assertThat(bean).isInstanceOf(Advised.class);
		return Arrays.stream(((Advised) bean).getAdvisors())
			.map(AdvisedBeans::role)
			.filter((role) -> !role.isEmpty())
			.toList();
	}

	private static String role(Advisor advisor) {
		Object advice = advisor.getAdvice();
		if (advice instanceof AsyncExecutionInterceptor) {
			return "async";
		}
		if (advice instanceof AbstractRetryInterceptor) {
			return "retry";
		}
		if (advice instanceof DistributedLockInterceptor) {
			return "lock";
		}
		if (advice instanceof CacheInterceptor) {
			return "cache";
		}
		if (advice instanceof TransactionInterceptor) {
			return "transaction";
		}
		if (advice.getClass().getName().startsWith("org.springframework.security.")) {
			return "guard";
		}
		return (advice instanceof UsersAdvice) ? "user" : "";
	}

	interface Service {

		void call();

	}

	static class OnMethods implements Service {

		@Override
		@Async
		@Retryable
		@Cacheable("things")
		@Transactional
		@PreAuthorize("hasRole('SELLER')")
		@DistributedLock("stock")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Defaults {

	}

	static final class UsersAdvice implements MethodInterceptor {

		@Override
		public Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

	}

}
