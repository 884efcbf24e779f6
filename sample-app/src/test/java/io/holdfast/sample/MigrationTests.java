package io.holdfast.sample;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.support.TransactionOperations;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.RedisLockAutoConfiguration;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a version of an application can hold a lock of Holdfast and the lock that it
 * replaces.
 */
class MigrationTests {

	@Test
	void holdsBothLocksInTheTransactionAndNoneAfterwards() {
		try (RedisServer redis = RedisServer.started()) {
			new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
						RedisLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
				.withBean(RedissonClient.class, () -> client(redis))
				.withBean(TransactionOperations.class, TransactionOperations::withoutTransaction)
				.withBean(Sales.class)
				.run((context) -> {
					Sales sales = context.getBean(Sales.class);
					sales.sell(42, 1);
					assertThat(sales.freeMeanwhile()).containsExactly(false, false);
					assertThat(sales.formerIsFree(42)).isTrue();
					assertThat(sales.holdfastIsFree(42)).isTrue();
				});
		}
	}

	private static RedissonClient client(RedisServer redis) {
		Config config = new Config();
		config.useSingleServer().setAddress(redis.address());
		return Redisson.create(config);
	}

	/**
	 * Sells products under both locks.
	 */
	static class Sales {

		private final List<Boolean> freeMeanwhile = new CopyOnWriteArrayList<>();

		private final RedissonClient redisson;

		private final TransactionOperations transaction;

		private final LockOperations locks;

		Sales(RedissonClient redisson, TransactionOperations transaction, LockOperations locks) {
			this.redisson = redisson;
			this.transaction = transaction;
			this.locks = locks;
		}

		// tag::both[]
		@DistributedLock(name = "stock", key = "#productId")
		public void sell(long productId, int quantity) {
			RLock former = this.redisson.getLock("stock-" + productId);
			former.lock();
			try {
				this.transaction.executeWithoutResult((status) -> take(productId, quantity));
			}
			finally {
				former.unlock();
			}
		}
		// end::both[]

		private void take(long productId, int quantity) {
			this.freeMeanwhile.add(formerIsFree(productId));
			this.freeMeanwhile.add(holdfastIsFree(productId));
		}

		List<Boolean> freeMeanwhile() {
			return this.freeMeanwhile;
		}

		/** Asks as an instance of the version that has only the former lock. */
		boolean formerIsFree(long productId) {
			return CompletableFuture.supplyAsync(() -> {
				RLock former = this.redisson.getLock("stock-" + productId);
				boolean free = former.tryLock();
				if (free) {
					former.unlock();
				}
				return free;
			}).join();
		}

		/** Asks as an instance of the version that has only Holdfast. */
		boolean holdfastIsFree(long productId) {
			Optional<LockHandle> hold = this.locks.tryAcquireAsync(LockRequest.of("stock", productId))
				.toCompletableFuture()
				.join();
			hold.ifPresent(LockHandle::close);
			return hold.isPresent();
		}

	}

}
