package io.holdfast.verification;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

import org.springframework.beans.factory.config.BeanPostProcessor;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;

/**
 * A backend that delegates to the actual one. Subclasses override methods to break it on
 * purpose.
 */
abstract class ForwardingBackend implements LockBackend {

	private final LockBackend store;

	ForwardingBackend(LockBackend store) {
		this.store = store;
	}

	/** Returns a post-processor that replaces each backend of an application. */
	static BeanPostProcessor each(UnaryOperator<LockBackend> change) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof LockBackend store) ? change.apply(store) : bean;
			}

		};
	}

	@Override
	public String name() {
		return this.store.name();
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.store.capabilities();
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.store.answersOn(thread);
	}

	@Override
	public boolean releasesOnCaller() {
		return this.store.releasesOnCaller();
	}

	@Override
	public boolean findsOnCaller() {
		return this.store.findsOnCaller();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return this.store.tryAcquire(claim);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return this.store.renew(grants);
	}

	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		return this.store.confirm(grant);
	}

	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		return this.store.retain(grant, remaining);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return this.store.release(grant);
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.store.find(lock);
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return this.store.revoke(lock, holder);
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.store.status();
	}

	@Override
	public CompletionStage<StoreStatus> status(Duration timeout) {
		return this.store.status(timeout);
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return this.store.abandon(claim);
	}

}
