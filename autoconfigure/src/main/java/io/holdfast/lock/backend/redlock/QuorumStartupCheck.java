package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.Stages;

/**
 * Connects to all nodes at startup, and waits until a majority may vote.
 */
final class QuorumStartupCheck {

	private static final GuardedLog logger = GuardedLog.of(QuorumStartupCheck.class);

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private static final Duration MARGIN = Duration.ofSeconds(2);

	private static final long PAUSE_MILLIS = 200;

	private final RedlockNodes nodes;

	private final RedlockErrors errors;

	QuorumStartupCheck(RedlockNodes nodes, RedlockErrors errors) {
		this.nodes = nodes;
		this.errors = errors;
	}

	void verify() {
		Votes votes = new QuorumCall<Votes>(this.nodes.count(), this.nodes.clock(), Votes::ifComplete)
			.ask(this.nodes.all(), TIMEOUT, QuorumStartupCheck::connect)
			.join();
		for (NodeResponse answer : votes.answers()) {
			if (answer.failure() != null
					&& Stages.cause(answer.failure()) instanceof LockConfigurationException wrong) {
				throw wrong;
			}
		}
		if (votes.yes() < this.nodes.quorum()) {
			throw this.errors.unreachable(votes, TIMEOUT);
		}
		if (votes.yes() < this.nodes.count()) {
			logger.warn(this.errors.unreachable(votes, TIMEOUT).getMessage());
		}
	}

	/**
	 * Waits until a majority may vote, if too many nodes remember nothing of earlier
	 * locks. This is the case at the very first start and after all nodes have restarted.
	 * The two cases look the same, and an earlier lock may still be held.
	 * @param longest the longest wait; if more time is needed, this method does not wait
	 * at all
	 */
	void awaitVotes(Duration longest) {
		QuarantineLog log = this.nodes.quarantineLog();
		log.startCollecting();
		boolean enough = enoughVote();
		List<String> quarantined = log.stopCollecting();
		Duration quarantine = this.nodes.quarantine();
		if (enough && !quarantined.isEmpty()) {
			log.warn(quarantined, quarantine);
		}
		if (!enough) {
			awaitVotes(quarantine, longest);
		}
	}

	private void awaitVotes(Duration quarantine, Duration longest) {
		boolean waits = quarantine.compareTo(longest) <= 0;
		logger.warn(
				"Most of the Redis nodes %s remember nothing of earlier locks: they are new, have restarted or were flushed. No lock is granted for %s, the longest that an earlier lock may last%s. To grant locks now, admit the nodes as described in the Redlock how-to."
					.formatted(this.nodes.all(), DurationText.of(quarantine),
							waits ? ". Startup waits for this" : ". Startup does not wait for this"));
		long start = this.nodes.clock().nanos();
		long end = start + quarantine.plus(MARGIN).toNanos();
		while (waits && this.nodes.clock().nanos() < end && pause()) {
			if (enoughVote()) {
				logger.info("A majority of the Redis nodes votes after %s."
					.formatted(DurationText.ofNanos(this.nodes.clock().nanos() - start)));
				return;
			}
		}
	}

	/**
	 * Whether a majority may vote. Also {@code true} if missing responses leave this
	 * unknown.
	 */
	private boolean enoughVote() {
		Votes votes = new QuorumCall<Votes>(this.nodes.count(), this.nodes.clock(), Votes::ifComplete)
			.ask(this.nodes.all(), TIMEOUT,
					(node) -> this.nodes.vote(node, () -> true, RedlockScripts.RENEW,
							List.of(this.nodes.keys().node())))
			.join();
		return votes.noVote() <= this.nodes.tolerated();
	}

	/** Pauses. Returns {@code false} if the thread was interrupted. */
	private static boolean pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private static CompletionStage<List<Object>> connect(RedlockNode node) {
		return node.connect().thenApply((runId) -> List.of(1L, runId));
	}

}
