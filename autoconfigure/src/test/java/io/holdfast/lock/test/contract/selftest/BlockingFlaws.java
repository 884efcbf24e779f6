package io.holdfast.lock.test.contract.selftest;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;

/**
 * Clients that wait on the thread of their caller without saying so, or the reverse.
 */
final class BlockingFlaws {

	private BlockingFlaws() {
	}

	/** Waits for a missing response on the thread of its caller. */
	static class WaitsOnTheCallersThread extends Wire {

		private final boolean toAcquire;

		WaitsOnTheCallersThread(Server server, boolean toAcquire) {
			super(server);
			this.toAcquire = toAcquire;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return afterATimeout(super.tryAcquire(claim), this.toAcquire);
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return afterATimeout(super.abandon(claim), !this.toAcquire);
		}

		private <T> T afterATimeout(T answer, boolean waits) {
			if (waits && isUnresponsive()) {
				LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
			}
			return answer;
		}

	}

	/** Declares that it blocks, but never does. */
	static class SaysThatItBlocks extends Wire {

		SaysThatItBlocks(Server server) {
			super(server);
		}

		@Override
		public BackendCapabilities capabilities() {
			Set<Capability> all = EnumSet.copyOf(super.capabilities().all());
			all.add(Capability.BLOCKING);
			return new BackendCapabilities(super.capabilities().shortestLease(), all);
		}

	}

}
