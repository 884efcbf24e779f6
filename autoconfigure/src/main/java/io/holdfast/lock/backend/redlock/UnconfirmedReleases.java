package io.holdfast.lock.backend.redlock;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * The claims that have ended, but whose release a node has not confirmed. A node that was
 * frozen may process an attempt after its release has failed. It would then reject all
 * other claims until the lease expires. As soon as it names such a claim as the one that
 * blocks another, the claim is released again. Keeps the latest claims. Thread-safe.
 */
final class UnconfirmedReleases {

	private static final int MOST = 1_000;

	/** What a node answers if shared leases block a claim. */
	private static final String READERS = "readers";

	private final Map<OwnerId, Claim> claims = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<OwnerId, Claim> eldest) {
			return size() > MOST;
		}

	};

	/** Whether there is none, which is the rule. Read without a lock. */
	private volatile boolean empty = true;

	/** Notes the response to a release. */
	void answered(Claim claim, boolean confirmed) {
		if (confirmed && this.empty) {
			return;
		}
		synchronized (this.claims) {
			if (confirmed) {
				this.claims.remove(claim.owner());
			}
			else {
				this.claims.put(claim.owner(), claim);
			}
			this.empty = this.claims.isEmpty();
		}
	}

	/**
	 * Returns those that block other claims, as the response of the node says.
	 * @param lock the lock of the claim that was rejected
	 * @param blocker who blocks it: an owner, or {@code readers}
	 */
	List<Claim> blocking(LockName lock, String blocker) {
		if (this.empty) {
			return List.of();
		}
		synchronized (this.claims) {
			return this.claims.values()
				.stream()
				.filter((claim) -> claim.owner().value().equals(blocker)
						|| (blocker.equals(READERS) && claim.mode() == LockMode.SHARED && claim.lock().equals(lock)))
				.toList();
		}
	}

	int size() {
		synchronized (this.claims) {
			return this.claims.size();
		}
	}

}
