package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionException;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.SqlStates;
import io.holdfast.lock.support.TableChecks;

/**
 * Creates the table of the fence if the settings ask for it, and verifies it.
 *
 * @param fencing the settings
 * @param dataSource the data source of the table
 * @param name returns the name of the data source for messages
 */
record FenceTable(FencingProperties fencing, DataSource dataSource, Supplier<String> name) {

	static final String DATA_SOURCE = "distributed-lock.fencing.data-source";

	private static final Log logger = LogFactory.getLog(FencingAutoConfiguration.class);

	/**
	 * Initializes and verifies the table in bounded time, however long the connection
	 * pool waits.
	 * @param verify throws the exception of the database if it cannot be used
	 * @throws UnusableException if the table exists and cannot be used
	 * @throws LockConfigurationException if there is no table
	 */
	void prepare(Runnable verify, Duration timeout) {
		try {
			StartupCheck.of("the fence table", timeout, List.of()).attempt(() -> {
				TableScripts.initialize(this.dataSource, this.fencing.initializeSchema(),
						JdbcFencingGuard.schema(this.fencing.table()), "distributed-lock.fencing.initialize-schema",
						verify);
				verify.run();
				requireExclusiveRows();
			});
		}
		catch (BadSqlGrammarException ex) {
			requireUsable(ex);
			throw new LockConfigurationException(
					"the table '%s' does not exist or cannot be read in data source %s. Create it in a migration with the script 'io/holdfast/lock/fencing/schema.sql' of this library, set 'distributed-lock.fencing.initialize-schema=always', or correct 'distributed-lock.fencing.table' or '%s'."
						.formatted(this.fencing.table(), this.name.get(), DATA_SOURCE),
					ex);
		}
		catch (DataAccessException | TransactionException | LockBackendException ex) {
			requireUsable(ex);
			logger.warn(
					"The fence table '%s' could not be checked (%s) and is therefore assumed to exist. Without it, transactions that hold a lock fail: create it, or set 'distributed-lock.fencing.enabled=false'."
						.formatted(this.fencing.table(), Failures.rootMessage(ex)));
			logger.debug("The fence table could not be checked", ex);
		}
	}

	private void requireExclusiveRows() {
		String problem = TableChecks.problem(new JdbcTemplate(this.dataSource), this.fencing.table(), "lock_id");
		if (problem != null) {
			throw new UnusableException(problem, null);
		}
	}

	private void requireUsable(RuntimeException ex) {
		if (SqlStates.deniesRight(ex) || SqlStates.startsWith(ex, SqlStates.READ_ONLY)) {
			throw new UnusableException(
					"the user of data source %s may not read and write the table '%s' (%s). Grant it SELECT, INSERT and UPDATE."
						.formatted(this.name.get(), this.fencing.table(), Failures.rootMessage(ex)),
					ex);
		}
		if (SqlStates.lacksColumn(ex)) {
			throw new UnusableException(
					"the table '%s' in data source %s differs from the script 'io/holdfast/lock/fencing/schema.sql' of this library (%s). Add the missing columns, or correct 'distributed-lock.fencing.table'."
						.formatted(this.fencing.table(), this.name.get(), Failures.rootMessage(ex)),
					ex);
		}
	}

	/**
	 * Thrown if the table exists and cannot be used. No application means to go without a
	 * fence then.
	 */
	static final class UnusableException extends LockConfigurationException {

		private static final long serialVersionUID = 1L;

		private UnusableException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
