package io.holdfast.lock.interceptor;

import java.util.function.Function;

import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.interceptor.AdvisedBeans.Defaults;
import io.holdfast.lock.interceptor.AdvisedBeans.OnMethods;
import io.holdfast.lock.interceptor.AdvisedBeans.Service;
import io.holdfast.lock.interceptor.AdvisedBeans.UsersAdvice;

import static io.holdfast.lock.interceptor.AdvisedBeans.chain;
import static io.holdfast.lock.interceptor.AdvisedBeans.runner;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a user's post-processor that puts a transaction or an asynchronous call
 * around the lock fails the startup.
 */
class LockChainVerifierTests {

	@Test
	void postProcessorThatPutsAnAsynchronousCallInsideStopsTheStart() {
		runner(Defaults.class, UserPutsAsyncInside.class).withBean(OnMethods.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("runs its method on another thread, without the lock");
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
