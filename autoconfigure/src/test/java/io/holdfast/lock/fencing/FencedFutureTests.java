package io.holdfast.lock.fencing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that no method promises a fence for work that it does not do in its transaction.
 */
class FencedFutureTests {

	private final ApplicationContextRunner runner = FencedApplication.runner()
		.withUserConfiguration(Asynchronous.class);

	@Test
	void methodThatReturnsAFutureIsRejected() {
		this.runner.withBean(WithoutAsync.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("WithoutAsync.order()", "'fenced = true'", "returns a future",
						"FencingGuard.advance"));
	}

	@Test
	void asynchronousMethodThatCompletesItsFutureIsFenced() {
		this.runner.withBean(Shop.class).run((context) -> {
			assertThat(context.getBean(Shop.class).order()).succeedsWithin(60, TimeUnit.SECONDS);
			assertThat(context.getBean(JdbcTemplate.class).queryForList("SELECT token FROM holdfast_fence", Long.class))
				.hasSize(1);
		});
	}

	@Test
	void workBeyondTheTransactionIsRejectedButKeepsTheLock() {
		this.runner.withBean(Shop.class).run((context) -> {
			CompletableFuture<String> work = new CompletableFuture<>();
			assertThat(context.getBean(Shop.class).order(work)).failsWithin(60, TimeUnit.SECONDS)
				.withThrowableThat()
				.withCauseInstanceOf(LockConfigurationException.class)
				.withMessageContainingAll("'fenced = true'", "its work continues after its transaction");
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(locks.tryAcquire(LockRequest.forLock(LockName.of("stock")).build())).isEmpty();
			work.complete("done");
			locks.acquire(LockRequest.of("stock")).close();
		});
	}

	static class WithoutAsync {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		public CompletableFuture<String> order() {
			return CompletableFuture.completedFuture("done");
		}

	}

	static class Shop {

		@Async
		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		public CompletableFuture<String> order() {
			return CompletableFuture.completedFuture("done");
		}

		@Async
		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		public CompletableFuture<String> order(CompletableFuture<String> work) {
			return work;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Asynchronous {

	}

}
