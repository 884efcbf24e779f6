package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.support.DurationText;

/**
 * Logs nodes that remember nothing of earlier locks. Nodes often restart together, so the
 * first one is logged at WARN. Further ones are logged at DEBUG while any node is in
 * quarantine. Thread-safe.
 */
final class QuarantineLog {

	private static final Log logger = LogFactory.getLog(QuarantineLog.class);

	private final Set<String> quarantined = new HashSet<>();

	private boolean collecting;

	/** Reports a node whose memory is not admitted. */
	void started(String address, Duration length) {
		boolean first;
		synchronized (this) {
			first = this.quarantined.isEmpty() && !this.collecting;
			this.quarantined.add(address);
		}
		if (first) {
			warn(List.of(address), length);
		}
		else {
			logger.debug(message(List.of(address), length));
		}
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
		return this.quarantined.stream().sorted().toList();
	}

	void warn(Collection<String> addresses, Duration length) {
		logger.warn(message(addresses, length));
	}

	private static String message(Collection<String> addresses, Duration length) {
		return "The Redis nodes %s remember nothing of earlier locks: they are new, have restarted or were flushed. They do not vote for %s, the longest that an earlier lock may last. Further nodes that do not vote are logged at DEBUG."
			.formatted(addresses, DurationText.of(length));
	}

}
