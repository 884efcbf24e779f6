package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a listener after the commit that acquires no lock, but runs after a
 * transaction that has held one.
 */
class UnlockedListenerTests {

	private final LocalLockBackend store = new LocalLockBackend();

	private void run(Consumer<Seen> calls) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
					AopAutoConfiguration.class, TransactionAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.withBean(LocalLockBackend.class, () -> this.store)
			.withBean(Shop.class)
			.withBean(Listener.class, () -> new Listener(this.store))
			.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true")
			.run((context) -> calls.accept(new Seen(context.getBean(Shop.class), context.getBean(Listener.class).inUse,
					new TransactionTemplate(context.getBean(PlatformTransactionManager.class)))));
	}

	@Test
	void lockAroundTheTransactionCoversItsListeners() {
		run((seen) -> {
			seen.shop.sell();
			assertThat(seen.inUse).containsExactly(1);
		});
	}

	@Test
	void lockInsideATransactionDoesNotCoverItsListeners() {
		run((seen) -> {
			seen.caller.executeWithoutResult((status) -> seen.shop.sell());
			assertThat(seen.inUse).containsExactly(0);
		});
	}

	private record Seen(Shop shop, List<Integer> inUse, TransactionTemplate caller) {

	}

	static class Shop {

		private final ApplicationEventPublisher events;

		Shop(ApplicationEventPublisher events) {
			this.events = events;
		}

		@Transactional
		@DistributedLock("stock")
		public void sell() {
			this.events.publishEvent("sold");
		}

	}

	static class Listener {

		private final List<Integer> inUse = new ArrayList<>();

		private final LocalLockBackend store;

		Listener(LocalLockBackend store) {
			this.store = store;
		}

		@TransactionalEventListener
		void book(String event) {
			this.inUse.add(this.store.inUse().size());
		}

	}

}
