package io.holdfast.lock.interceptor;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that no bean of a circular reference is injected without its lock. Spring injects
 * the bean itself and reports that only in the log.
 */
class CircularReferenceTests {

	private final ApplicationContextRunner runner = LocalLocks.runner()
		.withAllowCircularReferences(true)
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, TransactionAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@ValueSource(classes = { Stock.class, TransactionalStock.class })
	void lockedBeanOfACircularReferenceStopsTheStart(Class<? extends Stock> type) {
		this.runner.withBean("stock", type)
			.withBean("orders", Orders.class)
			.run((context) -> assertThat(RefusedBeans.failure(context)).message()
				.contains("Bean 'stock': @DistributedLock on " + Stock.class.getName() + ".take()",
						"circular reference", "would run without its lock", "@Lazy"));
	}

	/** Only the bean that is created first is injected before it is complete. */
	@ParameterizedTest
	@ValueSource(classes = { Stock.class, TransactionalStock.class })
	void lockedBeanThatIsCompleteBeforeItIsInjectedIsLocked(Class<? extends Stock> type) {
		this.runner.withBean("orders", Orders.class)
			.withBean("stock", type)
			.run((context) -> assertThat(context.getBean(Orders.class).place()).isEqualTo(1));
	}

	@Test
	void lockedBeanThatIsInjectedIntoItselfStopsTheStart() {
		this.runner.withBean("self", Self.class)
			.run((context) -> assertThat(RefusedBeans.failure(context)).message()
				.contains("Bean 'self'", "circular reference"));
	}

	@Test
	void beanOfACircularReferenceWithALazyEndIsLocked() {
		this.runner.withBean(LazyOrders.class).withBean(LazyStock.class).run((context) -> {
			assertThat(context.getBean(LazyOrders.class).place()).isEqualTo(1);
			assertThat(context.getBean(LazyStock.class).takeTwice()).isEqualTo(1);
		});
	}

	@Test
	void otherBeansMayReferToEachOther() {
		this.runner.withBean(First.class).withBean(Second.class).run((context) -> assertThat(context).hasNotFailed());
	}

	static class Orders {

		@Autowired
		private Stock stock;

		int place() {
			return this.stock.take();
		}

	}

	static class Stock {

		@Autowired
		private Orders orders;

		@DistributedLock("stock")
		public int take() {
			return LockContext.handles().size();
		}

	}

	static class TransactionalStock extends Stock {

		@Transactional
		public int order() {
			return 0;
		}

	}

	static class Self {

		@Autowired
		private Self self;

		@DistributedLock("stock")
		public int take() {
			return LockContext.handles().size();
		}

	}

	static class LazyOrders {

		@Autowired
		private LazyStock stock;

		int place() {
			return this.stock.take();
		}

	}

	static class LazyStock {

		@Autowired
		@Lazy
		private LazyOrders orders;

		@Autowired
		@Lazy
		private LazyStock self;

		@DistributedLock("stock")
		public int take() {
			return LockContext.handles().size();
		}

		int takeTwice() {
			this.self.take();
			return this.self.take();
		}

	}

	static class First {

		@Autowired
		private Second second;

	}

	static class Second {

		@Autowired
		private First first;

	}

}
