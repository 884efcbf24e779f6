package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.support.DurationText;

/**
 * Warns about a connection pool whose wait for a connection exceeds the wait time of
 * locks. While the database is unavailable, every lock request takes as long as the pool
 * waits, whatever its wait time is.
 */
final class PoolWaitCheck {

	private static final Log logger = LogFactory.getLog(PoolWaitCheck.class);

	/**
	 * The pools of Spring Boot, each with the property of its wait: milliseconds or a
	 * duration.
	 */
	private static final Map<String, String> PROPERTIES = Map.of("com.zaxxer.hikari.", "connectionTimeout",
			"org.apache.tomcat.jdbc.pool.", "maxWait", "org.apache.commons.dbcp2.", "maxWaitDuration");

	private PoolWaitCheck() {
	}

	/**
	 * Logs the warning, except for an embedded database, which is available as long as
	 * the application runs.
	 */
	static void warn(DataSource dataSource, Duration waitTime) {
		Duration pool = waitOf(dataSource);
		if (pool == null || (!pool.isNegative() && pool.compareTo(waitTime) <= 0)
				|| EmbeddedDatabaseConnection.isEmbedded(dataSource)) {
			return;
		}
		logger.warn(
				"The connection pool of the backend 'jdbc' waits %s for a connection, longer than 'distributed-lock.wait-time' (%s). While the database is unavailable, lock requests take as long as the pool waits. Reduce the timeout of this pool, such as 'spring.datasource.hikari.connection-timeout'. With 'distributed-lock.jdbc.data-source', locks can have a pool of their own."
					.formatted(pool.isNegative() ? "without limit" : "up to " + DurationText.of(pool),
							DurationText.of(waitTime)));
	}

	/**
	 * Returns the longest wait for a connection.
	 * @return the wait, negative if it has no limit, or {@code null} if the pool is not
	 * known
	 */
	private static @Nullable Duration waitOf(DataSource dataSource) {
		if (dataSource instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			return waitOf(proxy.getTargetDataSource());
		}
		for (Map.Entry<String, String> pool : PROPERTIES.entrySet()) {
			if (dataSource.getClass().getName().startsWith(pool.getKey())) {
				return duration(PropertyAccessorFactory.forBeanPropertyAccess(dataSource), pool.getValue());
			}
		}
		return null;
	}

	private static @Nullable Duration duration(BeanWrapper pool, String property) {
		Object value = pool.isReadableProperty(property) ? pool.getPropertyValue(property) : null;
		if (value instanceof Number millis) {
			return Duration.ofMillis(millis.longValue());
		}
		return (value instanceof Duration duration) ? duration : null;
	}

}
