package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * Breaks the placement of the lock: the store is told to let go right before each commit.
 */
@Configuration(proxyBeanMethods = false)
class EarlyReleases {

	private static final Map<LockName, Runnable> RELEASES = new ConcurrentHashMap<>();

	@Bean
	static BeanPostProcessor rememberingGrants() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof LockBackend store) ? new Remembering(store) : bean;
			}

		};
	}

	@Bean
	static TransactionExecutionListener releasingBeforeCommit() {
		return new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				LockHandle.current().ifPresent((handle) -> RELEASES.getOrDefault(handle.name(), () -> {
				}).run());
			}

		};
	}

	/**
	 * A store that remembers what it granted last.
	 *
	 * @param store the store that it is in truth
	 */
	private record Remembering(LockBackend store) implements LockBackend {

		@Override
		public String name() {
			return this.store.name();
		}

		@Override
		public BackendCapabilities capabilities() {
			return this.store.capabilities();
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return this.store.tryAcquire(claim).thenApply((result) -> {
				if (result instanceof AcquireResult.Acquired acquired) {
					RELEASES.put(claim.lock(), () -> this.store.release(acquired.grant()).toCompletableFuture().join());
				}
				return result;
			});
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return this.store.renew(grants);
		}

		/** It was released already. */
		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return this.store.release(grant).thenApply((result) -> new ReleaseResult.Released());
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return this.store.abandon(claim);
		}

	}

}
