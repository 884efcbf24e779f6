package io.holdfast.lock.interceptor;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for advice of another library that repeats a call, such as that of Spring Retry,
 * whose place depends on its order.
 */
class ForeignRetryTests {

	private final List<FencingToken> tokens = new ArrayList<>();

	private ApplicationContextRunner retriesAt(int order) {
		return AdvisedBeans.runner(Retries.class)
			.withBean(Sales.class, () -> new Sales(this.tokens))
			.withPropertyValues("test.retries=" + order, "distributed-lock.handoff.max-holds=1");
	}

	@Test
	void retryOrderedAsAGuardAcquiresTheLockAgain() {
		retriesAt(Ordered.LOWEST_PRECEDENCE - 200).run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(this.tokens).hasSize(2).doesNotHaveDuplicates();
		});
	}

	@Test
	void retryOfTheOrderOfSpringRetryRepeatsUnderOneHold() {
		retriesAt(Ordered.LOWEST_PRECEDENCE - 1).run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(this.tokens).hasSize(2).containsOnly(this.tokens.get(0));
		});
	}

	static class Sales {

		private final List<FencingToken> tokens;

		Sales(List<FencingToken> tokens) {
			this.tokens = tokens;
		}

		@Transactional
		@DistributedLock("stock")
		public void sell() {
			this.tokens.add(LockHandle.current().orElseThrow().fencingToken());
			if (this.tokens.size() == 1) {
				throw new IllegalStateException("sold by another one");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Retries {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor retries(Environment environment) {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(new Retry());
			advisor.setMappedName("sell");
			advisor.setOrder(environment.getRequiredProperty("test.retries", Integer.class));
			return advisor;
		}

	}

	private static final class Retry implements MethodInterceptor {

		@Override
		public Object invoke(MethodInvocation invocation) throws Throwable {
			try {
				return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				return invocation.proceed();
			}
		}

	}

}
