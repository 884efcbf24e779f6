package io.holdfast.lock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.datasource.init.DatabasePopulator;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptStatementFailedException;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.Failures;

/**
 * Creates Holdfast's tables if the settings ask for it.
 */
final class TableScripts {

	private static final Log logger = LogFactory.getLog(TableScripts.class);

	private static final int MOST_TABLES = 2;

	private static final Pattern TABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?");

	/** A part of a script that only one database understands, and others read over. */
	private static final Pattern OF_ONE_DATABASE = Pattern.compile("/\\* on (\\w+): (.*?) \\*/");

	private TableScripts() {
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

}
