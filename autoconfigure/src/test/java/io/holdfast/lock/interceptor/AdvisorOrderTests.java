package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.config.TransactionManagementConfigUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.interceptor.AdvisedBeans.Defaults;
import io.holdfast.lock.interceptor.AdvisedBeans.OnMethods;
import io.holdfast.lock.interceptor.AdvisedBeans.Service;
import io.holdfast.lock.interceptor.AdvisedBeans.UsersAdvice;

import static io.holdfast.lock.interceptor.AdvisedBeans.chain;
import static io.holdfast.lock.interceptor.AdvisedBeans.runner;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the position of the lock among the other advice around a method: inside
 * advice that starts or repeats a call, outside advice that the lock protects.
 */
class AdvisorOrderTests {

	static Stream<Arguments> combinations() {
		List<Arguments> all = new ArrayList<>();
		for (Class<?> order : List.of(Defaults.class, TransactionsFirst.class, TransactionsLast.class)) {
			for (Class<? extends Service> bean : List.of(OnMethods.class, OnClass.class)) {
				for (boolean targetClass : new boolean[] { true, false }) {
					all.add(Arguments.of(order, bean, targetClass));
				}
			}
		}
		return all.stream();
	}

	@ParameterizedTest(name = "{0} {1} proxyTargetClass={2}")
	@MethodSource("combinations")
	void lockIsOutsideOfTransactionsAndInsideOfRetries(Class<?> order, Class<? extends Service> bean,
			boolean targetClass) {
		runner(order, Everything.class).withBean(bean)
			.withPropertyValues("spring.aop.proxy-target-class=" + targetClass)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				List<String> chain = chain(context.getBean(Service.class));
				assertThat(chain).startsWith("async", "retry", "lock");
				assertThat(chain.subList(3, 5)).containsExactlyInAnyOrder("cache", "transaction");
			});
	}

	static Stream<Arguments> orders() {
		List<Arguments> all = new ArrayList<>();
		for (int transactions : new int[] { Ordered.HIGHEST_PRECEDENCE, 0, Ordered.LOWEST_PRECEDENCE }) {
			for (int users : new int[] { Ordered.HIGHEST_PRECEDENCE, -1, 1, AdviceChain.GUARDS_BEFORE,
					Ordered.LOWEST_PRECEDENCE }) {
				if (users == transactions) {
					continue;
				}
				for (boolean targetClass : new boolean[] { true, false }) {
					all.add(Arguments.of(transactions, users, targetClass));
				}
			}
		}
		return all.stream();
	}

	@ParameterizedTest(name = "transactions={0} user={1} proxyTargetClass={2}")
	@MethodSource("orders")
	void guardsStayOutsideOfTheLockAndNoOrderPutsATransactionThere(int transactions, int users, boolean targetClass) {
		runner(Defaults.class, Everything.class, Guarded.class).withBean("onMethods", OnMethods.class)
			.withBean("onClass", OnClass.class)
			.withPropertyValues("spring.aop.proxy-target-class=" + targetClass, "test.transactions=" + transactions,
					"test.users=" + users)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBeansOfType(Service.class).values().forEach((bean) -> {
					List<String> chain = chain(bean);
					assertThat(chain).containsExactlyInAnyOrder("async", "retry", "guard", "user", "lock", "cache",
							"transaction");
					assertThat(chain).startsWith("async", "retry");
					assertThat(chain).containsSubsequence("lock", "transaction").containsSubsequence("lock", "cache");
					boolean guards = users < AdviceChain.GUARDS_BEFORE && users < transactions;
					assertThat(chain).containsSubsequence(guards ? "user" : "lock", guards ? "lock" : "user");
					boolean secured = transactions == Ordered.LOWEST_PRECEDENCE;
					assertThat(chain).containsSubsequence(secured ? "guard" : "lock", secured ? "lock" : "guard");
				});
			});
	}

	@Test
	void asynchronousMethodLocksOnItsOwnThreadForAnyAsyncOrder() {
		runner(Defaults.class, AsyncFirst.class).withBean(Later.class).run((context) -> {
			assertThat(chain(context.getBean(Later.class))).containsExactly("async", "lock");
			assertThat(context.getBean(Later.class).call().get(10, TimeUnit.SECONDS)).startsWith("stock");
		});
	}

	@Test
	void retriesAndLimitsStayOutsideOfTheLockForAnyOrder() {
		runner(Defaults.class, ResilientFirst.class).withBean(Repeated.class).run((context) -> {
			Advised proxy = (Advised) context.getBean(Repeated.class);
			assertThat(AdviceChain.positionOfLock(proxy)).isEqualTo(2);
			assertThat(chain(proxy)).containsExactly("retry", "lock", "transaction");
			assertThat(proxy.getAdvisors()[2].getAdvice()).isInstanceOf(DistributedLockInterceptor.class);
		});
	}

	@Test
	void asynchronousMethodLocksOnTheThreadThatRunsIt() {
		runner(Defaults.class, Everything.class).withBean(Later.class).run((context) -> {
			CompletableFuture<List<String>> later = context.getBean(Later.class).call();
			List<String> held = later.get(10, TimeUnit.SECONDS);
			assertThat(held).startsWith("stock").doesNotContain(Thread.currentThread().getName()).hasSize(2);
			assertThat(LockContext.handles()).isEmpty();
		});
	}

	@Async
	@Retryable
	@Cacheable("things")
	@Transactional
	@PreAuthorize("hasRole('SELLER')")
	@DistributedLock("stock")
	static class OnClass implements Service {

		@Override
		public void call() {
		}

	}

	static class Repeated {

		@Retryable
		@ConcurrencyLimit(1)
		@Transactional
		@DistributedLock("stock")
		public void call() {
		}

	}

	static class Later {

		/** Returns the held locks and the name of the current thread. */
		@Async
		@DistributedLock("stock")
		public CompletableFuture<List<String>> call() {
			List<String> reported = new ArrayList<>();
			LockContext.handles().forEach((handle) -> reported.add(handle.lock().toString()));
			reported.add(Thread.currentThread().getName());
			return CompletableFuture.completedFuture(reported);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
	static class TransactionsFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = Ordered.LOWEST_PRECEDENCE)
	static class TransactionsLast {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@EnableResilientMethods
	@EnableCaching
	static class Everything {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	/** Method security, with a user's advisor and transactions of any order. */
	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Guarded {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor users(Environment environment) {
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(new UsersPointcut(), new UsersAdvice());
			advisor.setOrder(environment.getRequiredProperty("test.users", Integer.class));
			return advisor;
		}

		@Bean
		static BeanFactoryPostProcessor orderOfTransactions(Environment environment) {
			return (beanFactory) -> beanFactory
				.getBeanDefinition(TransactionManagementConfigUtils.TRANSACTION_ADVISOR_BEAN_NAME)
				.getPropertyValues()
				.add("order", environment.getRequiredProperty("test.transactions"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(order = 0)
	static class ResilientFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = 0)
	static class AsyncFirst {

	}

	static final class UsersPointcut extends StaticMethodMatcherPointcut {

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return Service.class.isAssignableFrom(targetClass);
		}

	}

}
