package io.holdfast.lock.backend.jdbc;

import java.util.Locale;

import io.holdfast.lock.LockConfigurationException;

/**
 * The differences between the supported databases.
 */
enum JdbcDialect {

	/**
	 * DATEDIFF compares local times, so both are in UTC. The local time of a session
	 * depends on the time zone of its JVM, and jumps with daylight saving time.
	 */
	H2("DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00Z', CURRENT_TIMESTAMP AT TIME ZONE 'UTC')"),

	/** Unlike {@code now()}, this time advances within a transaction. */
	POSTGRESQL("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"),

	/**
	 * The start time of the statement, so that all of its assignments use one value. A
	 * lease therefore starts no later than its row was locked. Independent of time zones.
	 */
	MARIADB(JdbcDialect.START_OF_STATEMENT),

	/**
	 * Has no RETURNING. The driver of MySQL reports a MariaDB server as MySQL, too, so
	 * these statements must be known to both.
	 */
	MYSQL(JdbcDialect.START_OF_STATEMENT);

	private static final String START_OF_STATEMENT = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

	/**
	 * Has a commit wait for the disk in a database whose commits do not. It would
	 * otherwise forget the lease in a crash, and grant the lock again.
	 */
	private static final String DURABLE = "(current_setting('synchronous_commit') <> 'off' OR set_config('synchronous_commit', 'local', true) <> '')";

	private final String now;

	JdbcDialect(String now) {
		this.now = now;
	}

	/** Returns an expression for the database's time in microseconds since 1970. */
	String now() {
		return this.now;
	}

	/** Returns the name of a statement that differs between the databases. */
	String variant(String statement) {
		return statement + "-" + name().toLowerCase(Locale.ROOT);
	}

	/** Returns the name of the statement that inserts a row unless it exists. */
	String insertRow() {
		return switch (this) {
			case H2, POSTGRESQL -> variant("insert-row");
			case MARIADB, MYSQL -> "insert-row-or-ignore";
		};
	}

	/** Whether a statement can return the rows that it has changed. */
	boolean returnsChangedRows() {
		return this != MYSQL;
	}

	/**
	 * Returns a query for the setting by which the database writes commits later than it
	 * confirms them, and for the remedy, or an empty string. It returns no row if commits
	 * are written at once. Those of an H2 database in memory are not lost before their
	 * process ends.
	 */
	String delayOfCommits() {
		return switch (this) {
			case H2 ->
				// the setting OLD_INFORMATION_SCHEMA changes the names of the columns
				"SELECT DISTINCT 'WRITE_DELAY is ' || DELAY || ' ms. If other processes use it, run ''SET WRITE_DELAY 0'' there once' FROM INFORMATION_SCHEMA.SETTINGS AS S(NAME, DELAY) WHERE NAME = 'WRITE_DELAY' AND DELAY <> '0'";
			case MARIADB, MYSQL ->
				"SELECT 'innodb_flush_log_at_trx_commit is 0. Set it to 1' FROM DUAL WHERE @@innodb_flush_log_at_trx_commit = 0";
			case POSTGRESQL -> "";
		};
	}

	/**
	 * Returns a true condition that makes the lease of its statement durable and limits
	 * how long it waits for a locked row, or an empty string. PostgreSQL evaluates it for
	 * a row before it locks that row. The limit also applies to later statements of the
	 * transaction. No thread is then needed to cancel statements from outside. A join
	 * with the function would double the cost of a short statement.
	 */
	String settings(int seconds) {
		return (this == POSTGRESQL) ? setting("lock_timeout", seconds) + " AND " + DURABLE : "";
	}

	/** Returns a true condition that makes the lease of a statement durable. */
	String durable() {
		return (this == POSTGRESQL) ? DURABLE : "TRUE";
	}

	/**
	 * Returns a condition like {@link #settings} for the statement that locks the rows of
	 * a transaction, after {@code AND}, or an empty string. PostgreSQL then also ends the
	 * transaction of a process that is paused in it. Its rows would otherwise stay
	 * locked, so no holder of these locks could renew its lease.
	 */
	String andTransactionSettings(int seconds) {
		return (this == POSTGRESQL)
				? "AND " + settings(seconds) + " AND " + setting("idle_in_transaction_session_timeout", seconds) : "";
	}

	private static String setting(String name, int seconds) {
		return "set_config('%s', '%ss', true) <> ''".formatted(name, seconds);
	}

	/**
	 * Whether a timeout of the driver limits how long a statement waits for a locked row.
	 * In H2 it does not: there, only the LOCK_TIMEOUT of the database limits it. The
	 * timeout of one statement would also remain on the connection for all others, and
	 * would have H2 compile its prepared statements again, at seven times their cost.
	 */
	boolean needsStatementTimeout() {
		return this == MARIADB || this == MYSQL;
	}

	/**
	 * Returns the clause that has a statement find rows by their keys, or an empty
	 * string. MariaDB and MySQL otherwise read a small table as a whole if the statement
	 * names many of its keys. It would then wait for rows of other locks, and lock them.
	 */
	String byKey() {
		return (this == MARIADB || this == MYSQL) ? "FORCE INDEX (PRIMARY)" : "";
	}

	/**
	 * Whether an auto-committed statement changes the latest state of a row at every
	 * isolation, and does not fail because this state is newer than its snapshot.
	 */
	boolean updatesLatestState() {
		return this == MARIADB || this == MYSQL;
	}

	/** Whether the database can notify other connections of a commit. */
	boolean notifies() {
		return this == POSTGRESQL;
	}

	static JdbcDialect of(String product) {
		return switch (product) {
			case "H2" -> H2;
			case "PostgreSQL" -> POSTGRESQL;
			case "MariaDB" -> MARIADB;
			case "MySQL" -> MYSQL;
			default -> throw new LockConfigurationException(
					"The backend 'jdbc' does not support the database '%s'. Use H2, PostgreSQL, MariaDB or MySQL, or another backend."
						.formatted(product));
		};
	}

}
