package io.holdfast.lock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.datasource.init.DatabasePopulator;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptStatementFailedException;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.Failures;

/**
 * Finds the database for Holdfast's tables, and creates them if the settings ask for it.
 */
final class LockDatabase {

	private static final Log logger = LogFactory.getLog(LockDatabase.class);

	private static final String DATA_SOURCE_OF_LOCKS = "distributed-lock.jdbc.data-source";

	private static final int FEW_CONNECTIONS = 2;

	private static final int MOST_TABLES = 2;

	private static final Pattern TABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?");

	/** A part of a script that only one database understands, and others read over. */
	private static final Pattern OF_ONE_DATABASE = Pattern.compile("/\\* on (\\w+): (.*?) \\*/");

	private LockDatabase() {
	}

	/**
	 * Checks the name of a table, which becomes part of SQL statements.
	 * @throws LockConfigurationException if it is not a plain name, with or without a
	 * schema
	 */
	static void requireTableName(String property, String name) {
		if (!TABLE.matcher(name).matches()) {
			throw new LockConfigurationException(
					"The property '%s' is '%s', which is not a valid table name. Use letters, digits and '_', optionally prefixed by a schema and a dot."
						.formatted(property, name));
		}
	}

	/**
	 * Returns the named data source, or the application's own if no name is set.
	 * @param property the property that sets the name, for the message
	 * @throws LockConfigurationException if there is no such bean, no data source at all,
	 * or several without a primary one
	 */
	static DataSource dataSource(ListableBeanFactory beanFactory, String property, @Nullable String name) {
		if (StringUtils.hasText(name)) {
			if (!beanFactory.containsBean(name)) {
				throw new LockConfigurationException(
						"The property '%s' is '%s', but no bean with that name exists. Name a DataSource bean, or remove the property to use the application's own."
							.formatted(property, name));
			}
			return beanFactory.getBean(name, DataSource.class);
		}
		DataSource dataSource = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new LockConfigurationException(isAmbiguous(beanFactory)
					? "There are several DataSource beans, %s, and none of them is primary. Name one with '%s'."
						.formatted(names(beanFactory), property)
					: "There is no DataSource bean. Set 'spring.datasource.*', or name one with '%s'."
						.formatted(property));
		}
		return dataSource;
	}

	/**
	 * Returns the data source in which locks are kept.
	 * @param name the name of its bean, or {@code null} for the application's own
	 * @throws LockConfigurationException if there is no such bean, or if it routes
	 */
	static DataSource ofLocks(ListableBeanFactory beanFactory, @Nullable String name) {
		DataSource dataSource = dataSource(beanFactory, DATA_SOURCE_OF_LOCKS, name);
		AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
		if (routing != null) {
			throw new LockConfigurationException(
					"Locks cannot be kept in data source %s, because it routes (%s): it may lead each caller to another database, and renewals have no caller. Name a DataSource bean that always leads to the same database in '%s'."
						.formatted(nameOf(dataSource, beanFactory), routing.getClass().getName(),
								DATA_SOURCE_OF_LOCKS));
		}
		return dataSource;
	}

	/** Whether there are several data sources, none of which is primary. */
	static boolean isAmbiguous(ListableBeanFactory beanFactory) {
		return names(beanFactory).size() > 1 && beanFactory.getBeanProvider(DataSource.class).getIfUnique() == null;
	}

	private static List<String> names(ListableBeanFactory beanFactory) {
		return List.of(beanFactory.getBeanNamesForType(DataSource.class, true, false));
	}

	/**
	 * Returns the text that names a data source in messages: its bean name if it is a
	 * bean, otherwise its own text. Creates no bean.
	 */
	static String nameOf(DataSource dataSource, ListableBeanFactory beanFactory) {
		Object wanted = TransactionSynchronizationUtils.unwrapResourceIfNecessary(dataSource);
		for (String name : beanFactory.getBeanNamesForType(DataSource.class, false, false)) {
			if (isCreated(beanFactory, name)
					&& TransactionSynchronizationUtils.unwrapResourceIfNecessary(beanFactory.getBean(name)) == wanted) {
				return "'" + name + "'";
			}
		}
		return dataSource.toString();
	}

	/** Whether a singleton exists, so that getting it creates no bean. */
	static boolean isCreated(ListableBeanFactory beanFactory, String name) {
		return beanFactory instanceof SingletonBeanRegistry beans && beans.containsSingleton(name);
	}

	/**
	 * Runs the script that creates the tables, if the mode asks for it.
	 */
	static void initialize(DataSource dataSource, DatabaseInitializationMode mode, String script) {
		if (mode == DatabaseInitializationMode.ALWAYS
				|| (mode == DatabaseInitializationMode.EMBEDDED && EmbeddedDatabaseConnection.isEmbedded(dataSource))) {
			populate(dataSource, (connection) -> {
				String product = connection.getMetaData().getDatabaseProductName();
				String ofProduct = OF_ONE_DATABASE.matcher(script)
					.replaceAll((part) -> part.group(1).equals(product) ? part.group(2) : "");
				new ResourceDatabasePopulator(new ByteArrayResource(ofProduct.getBytes(StandardCharsets.UTF_8)))
					.populate(connection);
			});
		}
	}

	/**
	 * Runs the script, and repeats it after a failed statement. Instances that start
	 * together create the tables concurrently, and {@code IF NOT EXISTS} may fail then on
	 * PostgreSQL. It fails at most once per table, because the other instance's table
	 * exists when the failure is reported.
	 */
	private static void populate(DataSource dataSource, DatabasePopulator populator) {
		for (int failed = 0; failed < MOST_TABLES; failed++) {
			try {
				DatabasePopulatorUtils.execute(populator, dataSource);
				return;
			}
			catch (ScriptStatementFailedException ex) {
				logger.debug("A statement of the script that creates the tables failed. Running the script again", ex);
			}
		}
		DatabasePopulatorUtils.execute(populator, dataSource);
	}

	/**
	 * Runs the script as above. If the database rejects it, checks for the tables.
	 * @param setting the property that asks for the script, for the message
	 * @param verify throws an exception if the tables cannot be used
	 * @throws LockConfigurationException if the script is rejected and the tables do not
	 * exist either
	 */
	static void initialize(DataSource dataSource, DatabaseInitializationMode mode, String script, String setting,
			Runnable verify) {
		try {
			initialize(dataSource, mode, script);
		}
		catch (ScriptStatementFailedException ex) {
			requireTables(ex, setting, verify);
		}
	}

	/**
	 * Checks for the tables after the database has rejected the script. A user that may
	 * not create tables can often use those of a migration.
	 */
	private static void requireTables(ScriptStatementFailedException rejected, String setting, Runnable verify) {
		String reason = Failures.rootMessage(rejected).lines().findFirst().orElse("");
		try {
			verify.run();
			logger.info("The database rejected the script of '%s' (%s). The tables exist, so they are used as they are."
				.formatted(setting, reason));
		}
		catch (LockConfigurationException | BadSqlGrammarException ex) {
			rejected.addSuppressed(ex);
			throw new LockConfigurationException(
					"The tables of Holdfast do not exist and cannot be created, which '%s' asks for (%s). Correct that, such as a missing schema or a missing right to create tables; or create the tables in a migration and set '%s=never'."
						.formatted(setting, reason, setting),
					rejected);
		}
	}

	/**
	 * Whether a connection can be kept for long without starving the application: its
	 * pool allows more than two connections, or the size of the pool is not known.
	 */
	static boolean hasConnectionToSpare(DataSource dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		for (DataSourcePoolMetadataProvider provider : pools) {
			DataSourcePoolMetadata pool = provider.getDataSourcePoolMetadata(dataSource);
			Integer most = (pool != null) ? pool.getMax() : null;
			if (most != null) {
				return most < 0 || most > FEW_CONNECTIONS;
			}
		}
		return true;
	}

}
