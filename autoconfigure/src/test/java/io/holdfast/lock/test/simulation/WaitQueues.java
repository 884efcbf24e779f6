package io.holdfast.lock.test.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * The fair, exclusive claims of all processes that wait at the store, to verify their
 * order. Each process sends one claim for a lock at a time, so the order holds for
 * claims, not for callers.
 */
final class WaitQueues {

	private final Map<OwnerId, Waiting> waiting = new LinkedHashMap<>();

	/** Adds a refused claim, which waits from the given time on. */
	void refused(Waiting claim, long now) {
		if (claim.inOrder()) {
			claim.waitsSince = Math.min(claim.waitsSince, now);
			this.waiting.put(claim.claim.owner(), claim);
		}
	}

	/** Removes a claim that was granted or abandoned. */
	void remove(Waiting claim) {
		this.waiting.remove(claim.claim.owner());
	}

	/**
	 * Returns a claim that was waiting for the same lock before the other claim was sent,
	 * and still waits at the given time by every clock.
	 */
	Optional<Waiting> predecessor(Waiting other, long now) {
		return this.waiting.values()
			.stream()
			.filter((claim) -> other.inOrder() && claim.claim.lock().equals(other.claim.lock())
					&& claim.waitsSince < other.sentAt && claim.waitsAt(now))
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

		private boolean waitsAt(long now) {
			return now - this.sentAt < this.claim.remainingWait().toNanos() * (1 - 2 * SimulatedNode.MOST_DRIFT);
		}

		private boolean inOrder() {
			return this.claim.fair() && this.claim.mode() == LockMode.EXCLUSIVE && !this.claim.remainingWait().isZero();
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
