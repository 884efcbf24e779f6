package io.holdfast.lock.interceptor;

import java.util.concurrent.CompletableFuture;

import io.github.resilience4j.test.TimeLimiterAspect;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@code @TimeLimiter} of Resilience4j, which returns a future of its own: it
 * is complete before the work if that takes too long.
 */
class ForeignTimeLimitTests {

	private final CompletableFuture<String> work = new CompletableFuture<>();

	private ApplicationContextRunner limited(Class<?>... others) {
		return AdvisedBeans.runner(others)
			.withUserConfiguration(Limits.class)
			.withBean(Sales.class, () -> new Sales(this.work));
	}

	@Test
	void lockIsHeldUntilTheWorkHasEndedAfterItsTime() {
		limited().run((context) -> {
			CompletableFuture<String> sale = context.getBean(Sales.class).sell();
			assertThatThrownBy(sale::join).hasRootCauseMessage("limit");
			assertThat(isHeld(context)).isTrue();
			this.work.complete("sold");
			Awaitility.await().until(() -> !isHeld(context));
		});
	}

	@Test
	void limitBehindOtherAdviceInsideTheLockStopsTheStart() {
		limited(Earlier.class).run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(LockConfigurationException.class)
			.hasMessage(
					"The bean 'foreignTimeLimitTests.Sales' has a time limit inside its lock: the result that io.github.resilience4j.test.TimeLimiterAspect completes when the time is over would release the lock, although the work continues. Order this aspect before the advice io.holdfast.lock.interceptor.ForeignTimeLimitTests$EarlierAdvice, with 'resilience4j.timelimiter.time-limiter-aspect-order'."));
	}

	@Test
	void limitOfAMethodWithoutALockDoesNotStopTheStart() {
		AdvisedBeans.runner(Earlier.class, Limits.class)
			.withBean(Reports.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static boolean isHeld(AssertableApplicationContext context) {
		return !context.getBean(LocalLockBackend.class).inUse().isEmpty();
	}

	static class Sales {

		private final CompletableFuture<String> work;

		Sales(CompletableFuture<String> work) {
			this.work = work;
		}

		@DistributedLock("stock")
		public CompletableFuture<String> sell() {
			return this.work;
		}

	}

	static class Reports {

		@DistributedLock("stock")
		public void print() {
		}

		public CompletableFuture<String> sell() {
			return new CompletableFuture<>();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy
	static class Limits {

		@Bean
		TimeLimiterAspect timeLimiterAspect() {
			return new TimeLimiterAspect();
		}

	}

	/** Advice that is not ordered as a guard. */
	@Configuration(proxyBeanMethods = false)
	static class Earlier {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor earlier() {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(new EarlierAdvice());
			advisor.setMappedName("sell");
			advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 50);
			return advisor;
		}

	}

	private static final class EarlierAdvice implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

	}

}
