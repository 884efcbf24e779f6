package io.holdfast.lock.autoconfigure;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.UncategorizedScriptException;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockOptions;

/**
 * Auto-configuration for the JDBC backend, with the application's {@link DataSource} or
 * another {@link DataSource} bean.
 */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ DataSource.class, ResourceDatabasePopulator.class, EmbeddedDatabaseConnection.class })
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@ConditionalOnLockStore(LockStore.JDBC)
@EnableConfigurationProperties({ DistributedLockProperties.class, JdbcLockProperties.class })
public final class JdbcLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(JdbcLockAutoConfiguration.class);

	/**
	 * Creates the backend after the application's own migrations, which may create the
	 * tables and expect to run first.
	 */
	@Bean
	@ConditionalOnMissingBean
	@DependsOnDatabaseInitialization
	JdbcLockBackend jdbcLockBackend(DistributedLockProperties locks, StartupChecks checks, JdbcLockProperties jdbc,
			ListableBeanFactory beanFactory, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		DataSource dataSource = LockDatabase.dataSource(beanFactory, "distributed-lock.jdbc.data-source",
				jdbc.dataSource());
		JdbcLockBackend backend = new JdbcLockBackend(dataSource, new JdbcLockOptions(locks.namespace(), jdbc.table(),
				locks.responseTimeout(), jdbc.listen() && hasConnectionToSpare(dataSource, pools)));
		// StartupCheck bounds the time for the database, however long the pool waits
		Runnable prepare = () -> prepare(dataSource, locks, jdbc);
		StartupCheck check = checks.of(LockStore.JDBC, "the database of the backend 'jdbc'",
				"Start the database, or correct its DataSource ('spring.datasource.*').");
		boolean checked = checks.run(LockStore.JDBC, (close) -> check.run(() -> {
			prepare.run();
			backend.verify();
		}, close), backend::close);
		if (!checked) {
			check.runOnce(prepare);
		}
		return backend;
	}

	private static boolean hasConnectionToSpare(DataSource dataSource,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		boolean spare = LockDatabase.hasConnectionToSpare(dataSource, pools);
		if (!spare) {
			logger.info(
					"Lock backend 'jdbc' does not listen for notifications of PostgreSQL, because its connection pool has less than three connections. Waiters poll instead");
		}
		return spare;
	}

	/** Creates the tables if the settings ask for it. */
	private static void prepare(DataSource dataSource, DistributedLockProperties locks, JdbcLockProperties jdbc) {
		try {
			LockDatabase.initialize(dataSource, jdbc.initializeSchema(), JdbcLockBackend.schema(jdbc.table()));
		}
		catch (UncategorizedScriptException ex) {
			throw new LockBackendException("no connection available: " + NestedExceptionUtils.getMostSpecificCause(ex),
					ex);
		}
		PoolWaitCheck.warn(dataSource, locks.waitTime());
	}

}
