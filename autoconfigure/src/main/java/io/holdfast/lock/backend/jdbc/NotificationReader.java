package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.core.BaseConnection;

import org.springframework.beans.ConfigurablePropertyAccessor;
import org.springframework.beans.PropertyAccessorFactory;

import io.holdfast.lock.support.GuardedLog;

/**
 * Reads notifications on a connection to PostgreSQL as soon as they arrive.
 *
 * <p>
 * The driver returns a notification only after it has waited 1 ms for further ones. That
 * is several times as long as the rest of its way. The field that shall limit this wait
 * to once a second is never set (pgjdbc 42.7.13), so this class sets it. With a driver
 * without this field, a notification takes 1 ms longer.
 */
final class NotificationReader implements AutoCloseable {

	private static final GuardedLog logger = GuardedLog.of(NotificationReader.class);

	/** When the driver may wait for further notifications again, in milliseconds. */
	private static final String NEXT_WAIT = "pgStream.nextStreamAvailableCheckTime";

	private final PGConnection connection;

	private final @Nullable ConfigurablePropertyAccessor driver;

	NotificationReader(Connection connection) throws SQLException {
		this.connection = connection.unwrap(PGConnection.class);
		this.driver = withoutWait(this.connection);
	}

	private static @Nullable ConfigurablePropertyAccessor withoutWait(PGConnection connection) {
		try {
			ConfigurablePropertyAccessor driver = PropertyAccessorFactory
				.forDirectFieldAccess(((BaseConnection) connection).getQueryExecutor());
			driver.setPropertyValue(NEXT_WAIT, Long.MAX_VALUE);
			return driver;
		}
		catch (RuntimeException | LinkageError ex) {
			logger.debug("The PostgreSQL driver delays each notification by 1 ms", ex);
			return null;
		}
	}

	/** Whether notifications are not delayed. */
	boolean isPrompt() {
		return this.driver != null;
	}

	/** Waits for notifications, and returns none if the time has passed. */
	PGNotification[] read(int millis) throws SQLException {
		return this.connection.getNotifications(millis);
	}

	/** Restores the driver for the next user of the connection. */
	@Override
	public void close() {
		if (this.driver != null) {
			this.driver.setPropertyValue(NEXT_WAIT, 0L);
		}
	}

}
