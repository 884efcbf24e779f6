package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.GuardedLog;

/**
 * Logs nodes that remember nothing of earlier locks. Nodes often restart together, so the
 * first one is logged at WARN, and so is the one that leaves no majority. Others are
 * logged at DEBUG while any node is in quarantine. Thread-safe.
 */
final class QuarantineLog {

	private static final GuardedLog logger = GuardedLog.of(QuarantineLog.class);

	private final int tolerated;

	private final Set<String> quarantined = new TreeSet<>();

	private boolean collecting;

	/**
	 * Creates a log.
	 * @param tolerated the number of nodes without which the others are a majority
	 */
	QuarantineLog(int tolerated) {
		this.tolerated = tolerated;
	}

	/** Reports a node whose memory is not admitted. */
	void started(String address, Duration length) {
		// in the lock, so that the entries are in the order of the events
		synchronized (this) {
			boolean added = this.quarantined.add(address);
			int count = this.quarantined.size();
			if (added && !this.collecting && (count == 1 || count == this.tolerated + 1)) {
				warn(List.copyOf(this.quarantined), length);
				return;
			}
		}
		logger.debug(message(List.of(address), length));
	}

	/** Reports that a node votes again. */
	void ended(String address) {
		synchronized (this) {
			this.quarantined.remove(address);
		}
		logger.info("Redis at %s votes again.".formatted(address));
	}

	/**
	 * Starts collecting nodes for the startup check, which asks all nodes and logs the
	 * result.
	 */
	synchronized void startCollecting() {
		this.collecting = true;
	}

	/** Returns the nodes that the startup check found. */
	synchronized List<String> stopCollecting() {
		this.collecting = false;
		return List.copyOf(this.quarantined);
	}

	void warn(Collection<String> addresses, Duration length) {
		logger.warn(message(addresses, length));
	}

	private String message(Collection<String> addresses, Duration length) {
		return "The Redis nodes %s remember nothing of earlier locks: they are new, have restarted or were flushed. They do not vote for %s, the longest that an earlier lock may last. %s"
			.formatted(addresses, DurationText.of(length),
					(addresses.size() > this.tolerated) ? "The others are no majority, so no lock is granted meanwhile."
							: "Further nodes are logged at DEBUG, unless the others are no majority any more.");
	}

}
