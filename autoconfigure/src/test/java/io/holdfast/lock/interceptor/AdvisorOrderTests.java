package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.AbstractRetryInterceptor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.config.TransactionManagementConfigUtils;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the position of the lock among the other advice around a method: inside
 * advice that starts or repeats a call, outside advice that the lock protects.
 */
class AdvisorOrderTests {

	private static ApplicationContextRunner runner(Class<?>... configurations) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
							AopAutoConfiguration.class, TransactionAutoConfiguration.class,
							DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:order", "distributed-lock.backend=local")
			.withUserConfiguration(configurations);
	}

	private static List<String> chain(Object bean) {
		assertThat(bean).isInstanceOf(Advised.class);
		return Arrays.stream(((Advised) bean).getAdvisors())
			.map(AdvisorOrderTests::role)
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
	void postProcessorThatPutsAnAsynchronousCallInsideStopsTheStart() {
		runner(Defaults.class, UserPutsAsyncInside.class).withBean(OnMethods.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("runs its method on another thread, without the lock");
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

	@Test
	void lockStaysOutsideOfAUsersAdviceThatIsAppendedLater() {
		runner(Defaults.class, UserAppends.class).withBean(OnMethods.class)
			.run((context) -> assertThat(chain(context.getBean(OnMethods.class))).containsExactly("lock", "transaction",
					"user"));
	}

	@Test
	void postProcessorThatPutsATransactionOutsideStopsTheStart() {
		runner(Defaults.class, UserPutsTransactionFirst.class).withBean(OnMethods.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(LockConfigurationException.class)
				.rootCause()
				.hasMessageContaining("starts its transaction before it acquires its lock")
				.hasMessageContaining("updates would be lost");
		});
	}

	@Test
	void proxyAroundTheProxyWithATransactionStopsTheStart() {
		runner(Defaults.class, UserWrapsInTransaction.class).withBean(OnMethods.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("starts its transaction before it acquires its lock");
		});
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
	static class Defaults {

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
	@EnableAsync(order = 0)
	static class AsyncFirst {

	}

	@Configuration(proxyBeanMethods = false)
	static class UserPutsAsyncInside {

		@Bean
		static BeanPostProcessor appending() {
			return new LatePostProcessor((proxy) -> {
				proxy.addAdvice(new AsyncExecutionInterceptor(new SyncTaskExecutor()));
				return proxy;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UserAppends {

		@Bean
		static BeanPostProcessor appending() {
			return new LatePostProcessor((proxy) -> {
				proxy.addAdvice(new UsersAdvice());
				return proxy;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UserPutsTransactionFirst {

		@Bean
		static BeanPostProcessor prepending() {
			return new LatePostProcessor((proxy) -> {
				proxy.addAdvisor(0, transaction());
				return proxy;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UserWrapsInTransaction {

		@Bean
		static BeanPostProcessor wrapping() {
			return new LatePostProcessor((proxy) -> {
				ProxyFactory factory = new ProxyFactory(proxy);
				factory.setInterfaces(Service.class);
				factory.addAdvisor(transaction());
				return factory.getProxy();
			});
		}

	}

	private static Advisor transaction() {
		return new DefaultPointcutAdvisor(
				new TransactionInterceptor((TransactionManager) null, new MatchAlwaysTransactionAttributeSource()));
	}

	static final class UsersPointcut extends StaticMethodMatcherPointcut {

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return Service.class.isAssignableFrom(targetClass);
		}

	}

	static final class UsersAdvice implements MethodInterceptor {

		@Override
		public Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

	}

	/** A user's post-processor that runs after all post-processors of Spring. */
	static final class LatePostProcessor implements BeanPostProcessor, Ordered {

		private final Function<Advised, Object> change;

		LatePostProcessor(Function<Advised, Object> change) {
			this.change = change;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof Advised proxy && bean instanceof Service) ? this.change.apply(proxy) : bean;
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

	}

}
