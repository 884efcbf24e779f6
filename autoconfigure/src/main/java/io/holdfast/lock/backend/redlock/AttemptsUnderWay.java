package io.holdfast.lock.backend.redlock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.OwnerId;

/**
 * The last attempt of each claim, until all nodes have answered it. Thread-safe.
 */
final class AttemptsUnderWay {

	private final Map<OwnerId, QuorumAcquisition> last = new ConcurrentHashMap<>();

	@Nullable QuorumAcquisition of(OwnerId owner) {
		return this.last.get(owner);
	}

	/** Adds an attempt, which replaces the previous one of the same claim. */
	void add(OwnerId owner, QuorumAcquisition attempt) {
		this.last.put(owner, attempt);
	}

	void remove(OwnerId owner, QuorumAcquisition attempt) {
		this.last.remove(owner, attempt);
	}

	/**
	 * Runs an action unless the claim has made another attempt, or makes one meanwhile.
	 */
	void ifLast(OwnerId owner, QuorumAcquisition attempt, Runnable action) {
		this.last.computeIfPresent(owner, (key, present) -> {
			if (present == attempt) {
				action.run();
			}
			return present;
		});
	}

	int size() {
		return this.last.size();
	}

}
