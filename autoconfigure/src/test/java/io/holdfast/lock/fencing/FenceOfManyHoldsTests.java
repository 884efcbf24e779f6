package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a transaction that acquires many locks and keeps all of them.
 */
class FenceOfManyHoldsTests {

	private static final int MANY = 100;

	private final List<Runnable> unbind = new ArrayList<>();

	@AfterEach
	void unbind() {
		this.unbind.forEach(Runnable::run);
	}

	/**
	 * Each pass is a callback of its transaction, and Spring sorts them whenever it
	 * returns them.
	 */
	@Test
	void lastCallSortsTheCallbacksAFewTimes() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:many-holds;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		TransactionFence fence = TestFence.of(dataSource);
		AtomicInteger comparisons = new AtomicInteger();
		new TransactionTemplate(TestFence.manager(dataSource, fence)).executeWithoutResult((status) -> {
			TransactionSynchronizationManager.registerSynchronization(counting(comparisons));
			for (int i = 0; i < MANY; i++) {
				this.unbind.add(LockContext.bind(TestHold.of("item" + i, 10, "a")));
				comparisons.set(0);
				fence.beforeBody(null);
			}
			int ofLastCall = comparisons.getAndSet(0);
			TransactionSynchronizationManager.getSynchronizations();
			assertThat(ofLastCall).isLessThan(comparisons.get() * MANY / 5);
		});
	}

	/** Took minutes when each of them was compared with each other one repeatedly. */
	@Test
	@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD)
	void requestsForManyLocksPassOneAfterTheOther() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:many-locks;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		TransactionFence fence = TestFence.of(dataSource);
		new TransactionTemplate(TestFence.manager(dataSource, fence)).executeWithoutResult((status) -> {
			fence.advance(ofNoThread("first"));
			fence.advance(ofNoThread("second"));
		});
		assertThat(new JdbcTemplate(dataSource).queryForObject("SELECT COUNT(*) FROM fence", Integer.class))
			.isEqualTo(40 * MANY);
	}

	private static SeveralHolds ofNoThread(String request) {
		return new SeveralHolds(
				IntStream.range(0, 20 * MANY).<LockHandle>mapToObj((i) -> TestHold.of(request + i, 10, "a")).toList());
	}

	private static TransactionSynchronization counting(AtomicInteger comparisons) {
		return new TransactionSynchronization() {

			@Override
			public int getOrder() {
				comparisons.incrementAndGet();
				return LOWEST_PRECEDENCE;
			}

		};
	}

}
