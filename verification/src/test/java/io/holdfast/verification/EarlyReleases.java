package io.holdfast.verification;

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
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * Breaks the placement of the lock by releasing it at the store right before each commit.
 */
@Configuration(proxyBeanMethods = false)
class EarlyReleases {

	private static final Map<LockName, Runnable> RELEASES = new ConcurrentHashMap<>();

	@Bean
	static BeanPostProcessor grantRecording() {
		return Mutations.ofBackends(GrantRecorder::new);
	}

	@Bean
	static TransactionExecutionListener releasingBeforeCommit() {
		return new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				if (Mutation.RELEASE_BEFORE_COMMIT.isActive()) {
					LockHandle.current().map((handle) -> RELEASES.get(handle.lock())).ifPresent(Runnable::run);
				}
			}

		};
	}

	/** A backend that keeps an action to release the latest grant of each lock. */
	private static final class GrantRecorder extends ForwardingBackend {

		GrantRecorder(LockBackend store) {
			super(store);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenApply((result) -> {
				if (result instanceof AcquireResult.Acquired acquired) {
					RELEASES.put(claim.lock(), () -> super.release(acquired.grant()).toCompletableFuture().join());
				}
				return result;
			});
		}

		/** Reports success, because the grant was already released. */
		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return super.release(grant).thenApply(
					(result) -> Mutation.RELEASE_BEFORE_COMMIT.isActive() ? new ReleaseResult.Released() : result);
		}

	}

}
