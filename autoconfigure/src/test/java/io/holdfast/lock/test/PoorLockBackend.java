package io.holdfast.lock.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * A backend with no capabilities that grants every lock to every claim, exclusively and
 * in any order. For tests that need a backend but no exclusion.
 *
 * @param name the name of the backend
 */
public record PoorLockBackend(String name) implements LockBackend {

	/**
	 * Creates a backend named {@code poor}.
	 */
	public PoorLockBackend() {
		this("poor");
	}

	@Override
	public BackendCapabilities capabilities() {
		return new BackendCapabilities(Duration.ofMillis(1));
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return CompletableFuture.completedFuture(new AcquireResult.Acquired(new Grant(claim, 1, claim.leaseTime())));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return CompletableFuture
			.completedFuture(grants.stream().<RenewResult>map((g) -> new RenewResult.Renewed(g.lease())).toList());
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return CompletableFuture.completedFuture(new ReleaseResult.Released());
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return CompletableFuture.completedFuture(null);
	}

}
