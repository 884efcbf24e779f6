package io.holdfast.lock.interceptor;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.retry.test.RetryInterceptor;
import org.springframework.transaction.annotation.EnableTransactionManagement;
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

	private ApplicationContextRunner retriesAt(int order, RetryInterceptor advice) {
		return AdvisedBeans.runner(Retries.class)
			.withBean(Sales.class, () -> new Sales(this.tokens))
			.withBean(RetryInterceptor.class, () -> advice)
			.withPropertyValues("test.retries=" + order, "distributed-lock.handoff.max-holds=1");
	}

	@Test
	void retryOrderedAsAGuardAcquiresTheLockAgain() {
		retriesAt(Ordered.LOWEST_PRECEDENCE - 200, new Retry()).run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(this.tokens).hasSize(2).doesNotHaveDuplicates();
		});
	}

	@Test
	void retryOfSpringRetryAcquiresTheLockAgainForAnyOrder() {
		retriesAt(Ordered.LOWEST_PRECEDENCE - 1, new RetryInterceptor()).run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(this.tokens).hasSize(2).doesNotHaveDuplicates();
		});
	}

	/** Advice of equal orders is applied in the order of its configurations. */
	@Test
	void retryOfSpringRetryBehindATransactionRepeatsUnderOneHold() {
		AdvisedBeans.runner(Transactions.class, Retries.class)
			.withBean(Sales.class, () -> new Sales(this.tokens))
			.withBean(RetryInterceptor.class)
			.withPropertyValues("test.retries=" + Ordered.LOWEST_PRECEDENCE)
			.run((context) -> {
				context.getBean(Sales.class).sell();
				assertThat(this.tokens).hasSize(2).containsOnly(this.tokens.get(0));
			});
	}

	@Test
	void retryOfAnUnknownLibraryRepeatsUnderOneHold() {
		retriesAt(Ordered.LOWEST_PRECEDENCE - 1, new Retry()).run((context) -> {
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
		static Advisor retries(Environment environment, RetryInterceptor advice) {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(advice);
			advisor.setMappedName("sell");
			advisor.setOrder(environment.getRequiredProperty("test.retries", Integer.class));
			return advisor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

	}

	/** Advice of a library that Holdfast does not know. */
	private static final class Retry extends RetryInterceptor {

	}

}
