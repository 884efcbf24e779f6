package io.holdfast.lock.test.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Turns off Holdfast's log output until closed. Otherwise, thousands of simulated faults
 * would fill the log with warnings.
 */
final class QuietLogs implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.holdfast");

	private final @Nullable Level before = this.logger.getLevel();

	QuietLogs() {
		this.logger.setLevel(Level.OFF);
	}

	@Override
	public void close() {
		this.logger.setLevel(this.before);
	}

}
