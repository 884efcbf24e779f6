package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for methods that require a fenced transaction and can never have one.
 */
class FenceThatNeverPassesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
						FencingAutoConfiguration.class, DataSourceAutoConfiguration.class,
						JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
						TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@ValueSource(classes = { Without.class, Never.class })
	void methodThatNeverHasATransactionStopsTheStart(Class<?> type) {
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll(type.getSimpleName() + ".order()", "'fenced = true'",
						"it never runs in a transaction", "Use another propagation, such as REQUIRED",
						"remove 'fenced'"));
	}

	@Test
	void methodWhoseTransactionOnlyReadsStopsTheStart() {
		this.runner.withBean(Reading.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("Reading.order()", "'fenced = true'", "its transaction is always read-only",
						"Remove 'readOnly', or remove 'fenced'"));
	}

	/** It joins the transaction of its caller, which writes. */
	@Slow
	@Test
	void methodThatMayJoinATransactionOfItsCallerIsFencedThere() {
		this.runner.withBean(Joining.class).run((context) -> {
			TransactionTemplate caller = context.getBean(TransactionTemplate.class);
			Joining joining = context.getBean(Joining.class);
			caller.executeWithoutResult((status) -> joining.order());
			caller.executeWithoutResult((status) -> joining.support());
		});
	}

	/**
	 * Suspends the transaction of its caller.
	 */
	public static class Without {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void order() {
		}

	}

	/**
	 * Rejects the transaction of its caller.
	 */
	public static class Never {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(propagation = Propagation.NEVER)
		public void order() {
		}

	}

	/**
	 * Always has a transaction of its own, which only reads.
	 */
	public static class Reading {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(propagation = Propagation.REQUIRES_NEW, readOnly = true)
		public void order() {
		}

	}

	/**
	 * Joins the transaction of its caller.
	 */
	public static class Joining {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(readOnly = true)
		public void order() {
		}

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(propagation = Propagation.SUPPORTS, readOnly = true)
		public void support() {
		}

	}

}
