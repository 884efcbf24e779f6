package io.holdfast.lock.support;

import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A log whose exceptions do not reach its caller. An appender may throw one if it cannot
 * write, as those of Log4j do with {@code ignoreExceptions="false"}. It must not stop the
 * step that logs, which may be about to notify a holder or the next caller. Thread-safe.
 */
public final class GuardedLog {

	private final Log log;

	private GuardedLog(Log log) {
		this.log = log;
	}

	/**
	 * Returns the log of a class.
	 * @param type the class
	 * @return its log
	 */
	public static GuardedLog of(Class<?> type) {
		return new GuardedLog(LogFactory.getLog(type));
	}

	/**
	 * Logs at level TRACE.
	 * @param message the message
	 * @param failure the cause, if there is one
	 */
	public void trace(String message, @Nullable Throwable failure) {
		guarded((to) -> to.trace(message, failure));
	}

	/**
	 * Logs at level DEBUG.
	 * @param message the message
	 */
	public void debug(String message) {
		guarded((to) -> to.debug(message));
	}

	/**
	 * Logs at level DEBUG.
	 * @param message the message
	 * @param failure the cause, if there is one
	 */
	public void debug(String message, @Nullable Throwable failure) {
		guarded((to) -> to.debug(message, failure));
	}

	/**
	 * Logs at level INFO.
	 * @param message the message
	 */
	public void info(String message) {
		guarded((to) -> to.info(message));
	}

	/**
	 * Logs at level WARN.
	 * @param message the message
	 */
	public void warn(@Nullable String message) {
		guarded((to) -> to.warn(message));
	}

	/**
	 * Logs at level WARN.
	 * @param message the message
	 * @param failure the cause, if there is one
	 */
	public void warn(String message, @Nullable Throwable failure) {
		guarded((to) -> to.warn(message, failure));
	}

	/**
	 * Logs at level ERROR.
	 * @param message the message
	 * @param failure the cause, if there is one
	 */
	public void error(String message, @Nullable Throwable failure) {
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
