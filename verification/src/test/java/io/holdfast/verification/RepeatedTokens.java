package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * Breaks the backends of an application: all grants have the same token.
 */
@Configuration(proxyBeanMethods = false)
class RepeatedTokens {

	private static final long TOKEN = 7;

	@Bean
	static BeanPostProcessor tokenRepeating() {
		return Mutations.ofBackends(TokenRepeater::new);
	}

	/** A backend that reports the same token for every grant. */
	private static final class TokenRepeater extends ForwardingBackend {

		private final Map<OwnerId, Grant> originals = new ConcurrentHashMap<>();

		TokenRepeater(LockBackend store) {
			super(store);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenApply((
					result) -> (Mutation.REPEATED_TOKEN.isActive() && result instanceof AcquireResult.Acquired acquired)
							? copy(acquired.grant()) : result);
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
			return super.renew(grants.stream().map(this::original).toList());
		}

		@Override
		public CompletionStage<Boolean> confirm(Grant grant) {
			return super.confirm(original(grant));
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return super.release(original(grant));
		}

	}

}
