package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * Breaks the stores of an application: whatever a store grants is told with one and the
 * same token.
 */
@Configuration(proxyBeanMethods = false)
class RepeatedTokens {

	private static final long TOKEN = 7;

	@Bean
	static BeanPostProcessor repeatingTokens() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof LockBackend store) ? new Repeating(store, new ConcurrentHashMap<>()) : bean;
			}

		};
	}

	/**
	 * A store that tells the same token of every grant.
	 *
	 * @param store the store that it is in truth
	 * @param originals what that granted
	 */
	private record Repeating(LockBackend store, Map<OwnerId, Grant> originals) implements LockBackend {

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
			return this.store.tryAcquire(claim)
				.thenApply((result) -> (result instanceof AcquireResult.Acquired acquired) ? copy(acquired.grant())
						: result);
		}

		private AcquireResult copy(Grant original) {
			this.originals.put(original.claim().owner(), original);
			return new AcquireResult.Acquired(new Grant(original.claim(), TOKEN, original.lease(), original.revoked()));
		}

		private Grant original(Grant copy) {
			return this.originals.getOrDefault(copy.claim().owner(), copy);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return this.store.renew(grants.stream().map(this::original).toList());
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return this.store.release(original(grant));
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return this.store.abandon(claim);
		}

	}

}
