package io.holdfast.lock.engine;

import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A log whose exceptions do not reach the engine. An appender may throw one if it cannot
 * write, as those of Log4j do with {@code ignoreExceptions="false"}. It must not stop the
 * step that logs, which may be about to notify a holder or the next caller.
 */
final class GuardedLog {

	private final Log log;

	private GuardedLog(Log log) {
		this.log = log;
	}

	/** Returns the log of a class. */
	static GuardedLog of(Class<?> type) {
		return new GuardedLog(LogFactory.getLog(type));
	}

	void debug(String message) {
		guarded((to) -> to.debug(message));
	}

	void info(String message) {
		guarded((to) -> to.info(message));
	}

	void warn(String message) {
		guarded((to) -> to.warn(message));
	}

	void warn(String message, Throwable failure) {
		guarded((to) -> to.warn(message, failure));
	}

	void error(String message, Throwable failure) {
		guarded((to) -> to.error(message, failure));
	}

	private void guarded(Consumer<Log> statement) {
		try {
			statement.accept(this.log);
		}
		catch (RuntimeException | LinkageError ex) {
			// there is no other log to which this one could be reported
		}
	}

}
