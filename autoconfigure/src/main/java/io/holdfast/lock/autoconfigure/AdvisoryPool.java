package io.holdfast.lock.autoconfigure;

import java.sql.DriverManager;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * The connection pool for advisory locks. A lock occupies a connection for as long as it
 * is held. If these were connections of the application's pool, holders could leave none
 * for their own transactions.
 *
 * @param dataSource provides the connections
 * @param queries provides connections for a short time
 * @param own whether the pool was made for locks
 */
record AdvisoryPool(DataSource dataSource, DataSource queries, boolean own) {

	private static final Log logger = LogFactory.getLog(AdvisoryPool.class);

	static final String MAX_CONNECTIONS = "distributed-lock.jdbc.advisory.max-connections";

	private static final String NAME = "holdfast-locks";

	private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

	/** The shortest timeout that the pool accepts. */
	private static final long SHORTEST_TIMEOUT_MILLIS = 250;

	/** Lets the pool start although the database may be away. */
	private static final long WITHOUT_CONNECTION = -1;

	/**
	 * Returns the pool that the settings name, or a new one with the settings of the
	 * application's.
	 * @param responseTimeout how long to wait for a connection at most
	 * @throws LockConfigurationException if the settings name no pool and the
	 * application's cannot be copied
	 */
	static AdvisoryPool find(ListableBeanFactory beanFactory, JdbcLockProperties jdbc, Duration responseTimeout) {
		DataSource dataSource = LockDatabase.ofLocks(beanFactory, jdbc.dataSource());
		if (StringUtils.hasText(jdbc.dataSource())) {
			if (dataSource == beanFactory.getBeanProvider(DataSource.class).getIfUnique()) {
				logger.warn(
						"Locks in the mode 'advisory' and transactions share the DataSource '%s'. Each lock keeps a connection, so locks can leave none for their transactions, which then wait for each other. Name another one in 'distributed-lock.jdbc.data-source', or remove the property for a pool of its own."
							.formatted(jdbc.dataSource()));
			}
			return new AdvisoryPool(dataSource, dataSource, false);
		}
		DataSource copy = ClassUtils.isPresent(HIKARI, null)
				? Hikari.copy(dataSource, jdbc.advisory().maxConnections(), responseTimeout) : null;
		if (copy == null) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.jdbc.mode' is 'advisory', but the application's DataSource (%s) is no HikariDataSource, so no separate pool for locks can be made from it. Name a DataSource bean with such a pool in 'distributed-lock.jdbc.data-source', or set 'distributed-lock.jdbc.mode=rows'."
						.formatted(dataSource.getClass().getName()));
		}
		return new AdvisoryPool(copy, dataSource, true);
	}

	/** Uses the pool's classes, which may be missing. */
	private static final class Hikari {

		/**
		 * Connects at its first use. A connection that is held long is no leak here. The
		 * pool sets the login timeout of all drivers in this JVM, which is restored.
		 */
		private static @Nullable HikariDataSource copy(DataSource dataSource, int maxConnections,
				Duration responseTimeout) {
			HikariDataSource original = DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class,
					HikariDataSource.class);
			if (original == null) {
				return null;
			}
			HikariConfig copy = new HikariConfig();
			original.copyStateTo(copy);
			copy.setPoolName(NAME);
			copy.setMaximumPoolSize(maxConnections);
			copy.setMinimumIdle(0);
			copy.setAutoCommit(true);
			copy.setReadOnly(false);
			copy.setLeakDetectionThreshold(0);
			copy.setConnectionTimeout(Math.max(SHORTEST_TIMEOUT_MILLIS,
					Math.min(original.getConnectionTimeout(), responseTimeout.toMillis())));
			copy.setInitializationFailTimeout(WITHOUT_CONNECTION);
			int loginTimeout = DriverManager.getLoginTimeout();
			try {
				return new HikariDataSource(copy);
			}
			finally {
				DriverManager.setLoginTimeout(loginTimeout);
			}
		}

	}

}
