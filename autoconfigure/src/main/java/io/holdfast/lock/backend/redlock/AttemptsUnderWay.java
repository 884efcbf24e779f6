package io.holdfast.lock.backend.redlock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.OwnerId;

/**
 * The last attempt of each claim, until all nodes have answered it and the attempts
 * before it. Thread-safe.
 */
final class AttemptsUnderWay {

	private final Map<OwnerId, Last> last = new ConcurrentHashMap<>();

	@Nullable QuorumAcquisition of(OwnerId owner) {
		Last present = this.last.get(owner);
		return (present != null) ? present.attempt() : null;
	}

	/** Adds an attempt, which replaces the previous one of the same claim. */
	void add(OwnerId owner, QuorumAcquisition attempt) {
		this.last.merge(owner, new Last(attempt, 1), (present, added) -> new Last(attempt, present.unanswered() + 1));
	}

	/** Notes that all nodes have answered one attempt of a claim. */
	void answered(OwnerId owner) {
		this.last.computeIfPresent(owner, (key, present) -> (present.unanswered() == 1) ? null
				: new Last(present.attempt(), present.unanswered() - 1));
	}

	/**
	 * Notes that a node did not receive or answer an attempt, for the release of its
	 * claim. If the node has answered a later one by now, it may process this one after
	 * the release.
	 */
	void note(QuorumAcquisition attempt, NodeResponse response) {
		MissedRequests missed = response.node().missed();
		if (attempt.first && response.isNotSent()) {
			ifLast(attempt, () -> missed.neverSent(attempt.claim));
		}
		QuorumAcquisition latest = response.isMissing() ? of(attempt.claim.owner()) : null;
		NodeResponse later = (latest != null && latest != attempt) ? latest.response(response.node()).getNow(null)
				: null;
		if (later != null) {
			missed.overtaken(attempt.claim, attempt.number, later.isYes(), attempt.ended.get());
		}
	}

	/**
	 * Runs an action unless the claim has made another attempt, or makes one meanwhile.
	 */
	private void ifLast(QuorumAcquisition attempt, Runnable action) {
		this.last.computeIfPresent(attempt.claim.owner(), (owner, present) -> {
			if (present.attempt() == attempt) {
				action.run();
			}
			return present;
		});
	}

	int size() {
		return this.last.size();
	}

	/**
	 * The last attempt of a claim.
	 *
	 * @param attempt the attempt
	 * @param unanswered how many attempts of the claim not all nodes have answered
	 */
	private record Last(QuorumAcquisition attempt, int unanswered) {
	}

}
