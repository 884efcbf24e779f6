package io.holdfast.lock.test;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * An appender that throws an exception for each message, even at DEBUG, as those of Log4j
 * do with {@code ignoreExceptions="false"} if they cannot write.
 */
public final class FailingLog implements AutoCloseable {

	private final AppenderBase<ILoggingEvent> failing = new AppenderBase<>() {

		@Override
		public void doAppend(ILoggingEvent event) {
			throw new IllegalStateException("No space left on device");
		}

		@Override
		protected void append(ILoggingEvent event) {
		}

	};

	private final Logger log;

	private final @Nullable Level level;

	private FailingLog(Logger log) {
		this.log = log;
		this.level = log.getLevel();
	}

	/** Lets the log of all classes in the package of a class fail. */
	public static FailingLog ofPackage(Class<?> type) {
		FailingLog log = new FailingLog((Logger) LoggerFactory.getLogger(type.getPackageName()));
		log.log.setLevel(Level.DEBUG);
		log.log.addAppender(log.failing);
		return log;
	}

	@Override
	public void close() {
		this.log.detachAppender(this.failing);
		this.log.setLevel(this.level);
	}

}
