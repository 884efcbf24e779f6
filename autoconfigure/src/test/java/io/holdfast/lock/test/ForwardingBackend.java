package io.holdfast.lock.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

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
 * Base class for backends that forward every call to another backend. Subclasses override
 * what they change.
 */
public abstract class ForwardingBackend implements LockBackend {

	private final LockBackend backend;

	/**
	 * Creates a backend that forwards to another one.
	 * @param backend the backend to forward to
	 */
	protected ForwardingBackend(LockBackend backend) {
		this.backend = backend;
	}

	@Override
	public String name() {
		return this.backend.name();
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.backend.capabilities();
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.backend.answersOn(thread);
	}

	@Override
	public boolean releasesOnCaller() {
		return this.backend.releasesOnCaller();
	}

	@Override
	public boolean findsOnCaller() {
		return this.backend.findsOnCaller();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return this.backend.tryAcquire(claim);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return this.backend.renew(grants);
	}

	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		return this.backend.confirm(grant);
	}

	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		return this.backend.retain(grant, remaining);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return this.backend.release(grant);
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.backend.find(lock);
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return this.backend.revoke(lock, holder);
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.backend.status();
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return this.backend.abandon(claim);
	}

}
