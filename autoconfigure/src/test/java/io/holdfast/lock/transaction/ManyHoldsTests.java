package io.holdfast.lock.transaction;

import org.junit.jupiter.api.Test;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.fencing.FencedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a transaction that acquires many locks, one after another.
 */
class ManyHoldsTests {

	/** More than may be nested. Those that are closed are kept until the commit. */
	private static final int MANY = 300;

	@Test
	void closedHoldsOfATransactionAreNotNested() {
		FencedApplication.runner().run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					for (int i = 0; i < MANY; i++) {
						locks.acquire(LockRequest.of("item", i)).close();
						locks.acquire(LockRequest.of("order")).close();
					}
				});
			assertThat(LockContext.handles()).isEmpty();
		});
	}

}
