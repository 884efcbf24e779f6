package io.holdfast.lock.interceptor;

import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for advice of another library that returns a future of its own, which a time
 * limit completes before the work, such as {@code @TimeLimiter} of Resilience4j.
 */
class ForeignTimeLimitTests {

	private final CompletableFuture<String> work = new CompletableFuture<>();

	private ApplicationContextRunner limitAt(int order) {
		return AdvisedBeans.runner(Limits.class)
			.withBean(Sales.class, () -> new Sales(this.work))
			.withPropertyValues("test.limit=" + order);
	}

	@Test
	void lockIsHeldBeyondALimitOrderedAsAGuard() {
		limitAt(Ordered.LOWEST_PRECEDENCE - 200).run((context) -> {
			CompletableFuture<String> sale = context.getBean(Sales.class).sell();
			assertThatThrownBy(sale::join).hasRootCauseMessage("limit");
			assertThat(isHeld(context)).isTrue();
			this.work.complete("sold");
			Awaitility.await().until(() -> !isHeld(context));
		});
	}

	@Test
	void limitOfTheOrderOfResilience4jEndsTheHoldBeforeTheWork() {
		limitAt(Ordered.LOWEST_PRECEDENCE - 2).run((context) -> {
			CompletableFuture<String> sale = context.getBean(Sales.class).sell();
			assertThatThrownBy(sale::join).hasRootCauseMessage("limit");
			Awaitility.await().until(() -> !isHeld(context));
			assertThat(this.work).isNotDone();
		});
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

	@Configuration(proxyBeanMethods = false)
	static class Limits {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor limits(Environment environment) {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(new Limit());
			advisor.setMappedName("sell");
			advisor.setOrder(environment.getRequiredProperty("test.limit", Integer.class));
			return advisor;
		}

	}

	/** The limit is over as soon as the work has started. */
	private static final class Limit implements MethodInterceptor {

		@Override
		public Object invoke(MethodInvocation invocation) throws Throwable {
			invocation.proceed();
			return CompletableFuture.failedFuture(new IllegalStateException("limit"));
		}

	}

}
