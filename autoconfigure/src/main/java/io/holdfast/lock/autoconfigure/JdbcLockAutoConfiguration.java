package io.holdfast.lock.autoconfigure;

import java.util.Locale;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.UncategorizedScriptException;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.jdbc.AdvisoryLockBackend;
import io.holdfast.lock.backend.jdbc.AdvisoryLockOptions;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockOptions;
import io.holdfast.lock.support.DurationText;

/**
 * Auto-configuration for the JDBC backend, with the application's {@link DataSource} or
 * another {@link DataSource} bean.
 */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ DataSource.class, ResourceDatabasePopulator.class, EmbeddedDatabaseConnection.class })
@ConditionalOnLocksEnabled
@ConditionalOnLockStore(LockStore.JDBC)
@EnableConfigurationProperties({ DistributedLockProperties.class, JdbcLockProperties.class })
public final class JdbcLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(JdbcLockAutoConfiguration.class);

	/**
	 * Creates the backend of the mode 'advisory' after the application's own migrations,
	 * which may create the sequence and expect to run first.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Conditional(AdvisoryMode.class)
	@DependsOnDatabaseInitialization
	AdvisoryLockBackend advisoryLockBackend(DistributedLockProperties locks, StartupChecks checks,
			JdbcLockProperties jdbc, ListableBeanFactory beanFactory) {
		requireMode(JdbcLockMode.ADVISORY, jdbc);
		AdvisoryPool pool = AdvisoryPool.find(beanFactory, jdbc, locks.responseTimeout());
		if (!locks.lockDelay().isZero()) {
			logger.warn(
					"'distributed-lock.lock-delay' is '%s', but a lock in the mode 'advisory' is free at once if its connection ends. Set 'distributed-lock.jdbc.mode=rows' if the delay protects resources that cannot be fenced."
						.formatted(DurationText.of(locks.lockDelay())));
		}
		AdvisoryLockBackend backend = new AdvisoryLockBackend(pool.dataSource(), pool.queries(),
				new AdvisoryLockOptions(locks.namespace(), jdbc.table(), locks.responseTimeout(), pool.own()));
		check(checks, () -> prepare(pool.dataSource(), jdbc, AdvisoryLockBackend.schema(jdbc.table()), backend::verify),
				backend::verify, backend::close, () -> PoolWaitCheck.warn(pool.dataSource(), locks.waitTime()));
		return backend;
	}

	/** Creates the backend of the mode 'rows', in the same order. */
	@Bean
	@ConditionalOnMissingBean({ JdbcLockBackend.class, AdvisoryLockBackend.class })
	@DependsOnDatabaseInitialization
	JdbcLockBackend jdbcLockBackend(DistributedLockProperties locks, StartupChecks checks, JdbcLockProperties jdbc,
			ListableBeanFactory beanFactory, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		requireMode(JdbcLockMode.ROWS, jdbc);
		DataSource dataSource = LockDatabase.ofLocks(beanFactory, jdbc.dataSource());
		JdbcLockBackend backend = new JdbcLockBackend(dataSource, new JdbcLockOptions(locks.namespace(), jdbc.table(),
				locks.responseTimeout(), jdbc.listen() && hasConnectionToSpare(dataSource, pools)));
		check(checks, () -> prepare(dataSource, jdbc, JdbcLockBackend.schema(jdbc.table()), backend::verify),
				backend::verify, backend::close, () -> PoolWaitCheck.warn(dataSource, locks.waitTime()));
		return backend;
	}

	/**
	 * The mode of an application that was processed ahead of time is that of its build.
	 */
	private static void requireMode(JdbcLockMode built, JdbcLockProperties jdbc) {
		if (jdbc.mode() != built) {
			throw new LockConfigurationException(
					"'distributed-lock.jdbc.mode' is '%s', but was '%s' when this application was processed ahead of time, and conditions are not evaluated again, so its locks would not exclude those of other instances. Set 'distributed-lock.jdbc.mode=%1$s' for the build as well."
						.formatted(textOf(jdbc.mode()), textOf(built)));
		}
	}

	private static String textOf(JdbcLockMode mode) {
		return mode.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * StartupCheck bounds the time for the database, however long the pool waits. That
	 * includes the warning, which asks the database whether it is embedded. A pool that
	 * would make callers wait is only a problem if locks are in the database.
	 */
	private static void check(StartupChecks checks, Runnable prepare, Runnable verify, Runnable close,
			Runnable warnOfPool) {
		StartupCheck check = checks.of(LockStore.JDBC, "the database of the backend 'jdbc'",
				"Start the database, or correct its DataSource ('spring.datasource.*').");
		boolean checked = checks.run(LockStore.JDBC, (stop) -> check.run(() -> {
			prepare.run();
			verify.run();
			warnOfPool.run();
		}, stop), close);
		if (!checked) {
			check.runOnce(() -> {
				prepare.run();
				if (checks.mayBeDefault(LockStore.JDBC)) {
					warnOfPool.run();
				}
			}, close);
		}
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

	/** Runs the script that creates the tables, if the settings ask for it. */
	private static void prepare(DataSource dataSource, JdbcLockProperties jdbc, String script, Runnable verify) {
		try {
			TableScripts.initialize(dataSource, jdbc.initializeSchema(), script,
					"distributed-lock.jdbc.initialize-schema", verify);
		}
		catch (UncategorizedScriptException ex) {
			throw new LockBackendException("no connection available: " + NestedExceptionUtils.getMostSpecificCause(ex),
					ex);
		}
	}

	/**
	 * Matches in the mode 'advisory'. It binds the property, which accepts more than the
	 * exact text.
	 */
	static final class AdvisoryMode implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return Binder.get(context.getEnvironment())
				.bind("distributed-lock.jdbc.mode", JdbcLockMode.class)
				.orElse(JdbcLockMode.ROWS) == JdbcLockMode.ADVISORY;
		}

	}

}
