package io.holdfast.lock.test.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * The claims of all processes that wait in order at the store. Each process sends one
 * claim to a lock at a time, so the order holds among claims, not among callers.
 */
final class WaitQueues {

	private final Map<OwnerId, Waiting> waiting = new LinkedHashMap<>();

	/** The store has refused a claim, which waits from now on. */
	void refused(Waiting claim, long now) {
		if (claim.inOrder()) {
			claim.waitsSince = Math.min(claim.waitsSince, now);
			this.waiting.put(claim.claim.owner(), claim);
		}
	}

	/** A claim was granted or abandoned. */
	void over(Waiting claim) {
		this.waiting.remove(claim.claim.owner());
	}

	/** A claim that waited for the lock of another before that was sent. */
	Optional<Waiting> before(Waiting other) {
		return this.waiting.values()
			.stream()
			.filter((claim) -> other.inOrder() && claim.claim.lock().equals(other.claim.lock())
					&& claim.waitsSince < other.sentAt)
			.findFirst();
	}

	/**
	 * A claim that may wait.
	 */
	static final class Waiting {

		final SimulatedProcess process;

		final String name;

		final long sentAt;

		private final Claim claim;

		private long waitsSince = Long.MAX_VALUE;

		Waiting(SimulatedProcess process, String name, Claim claim) {
			this.process = process;
			this.name = name;
			this.claim = claim;
			this.sentAt = process.simulation().now();
		}

		String lock() {
			return this.claim.lock().toString();
		}

		private boolean inOrder() {
			return this.claim.fair() && this.claim.mode() == LockMode.EXCLUSIVE && !this.claim.patience().isZero();
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
