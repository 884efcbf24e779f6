package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the scope without a transaction in which a locked method with a transaction
 * of its own ({@code REQUIRES_NEW}) is called from another transaction. Advice between
 * the lock and the transaction registers a callback there.
 */
class SuspendedCallerTests extends NoteApplication {

	private final List<String> callbacks = new ArrayList<>();

	private Advisor advice() {
		NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
		pointcut.addMethodName("writeInNewAndThen");
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					SuspendedCallerTests.this.callbacks.add("beforeCommit");
					throw new IllegalArgumentException("callback");
				}

				@Override
				public void afterCompletion(int status) {
					SuspendedCallerTests.this.callbacks
						.add((status == STATUS_ROLLED_BACK) ? "rolledBack" : "completed");
				}

			});
			return invocation.proceed();
		});
		advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 50);
		return advisor;
	}

	@Test
	void failedCallRollsItBackAndKeepsItsException() {
		runner(Manager.JDBC).withBean(Advisor.class, this::advice)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2")
			.run((context) -> {
				context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
				context.getBean(Outer.class)
					.calling(() -> assertThatExceptionOfType(IllegalStateException.class)
						.isThrownBy(() -> context.getBean(Inner.class).writeInNewAndThen("a", () -> {
							throw new IllegalStateException("of the body");
						})));
				assertThat(this.callbacks).containsExactly("rolledBack");
			});
	}

}
