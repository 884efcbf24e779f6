package io.holdfast.lock.backend.jdbc;

import java.util.Locale;

import io.holdfast.lock.LockConfigurationException;

/**
 * What differs between the databases that can keep locks.
 */
enum JdbcDialect {

	H2("DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00Z', CURRENT_TIMESTAMP)"),

	/** Its {@code now()} stands still in a transaction; this does not. */
	POSTGRESQL("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"),

	/**
	 * The time at which the statement began: one value for all that it assigns. A lease
	 * is so counted from no later than its row was locked. No time zone has a part in it.
	 */
	MARIADB("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");

	private final String now;

	JdbcDialect(String now) {
		this.now = now;
	}

	/** The database's time in microseconds since 1970, as an expression. */
	String now() {
		return this.now;
	}

	String resource(String statement) {
		return statement + "-" + name().toLowerCase(Locale.ROOT) + ".sql";
	}

	/**
	 * What makes a statement, and those that follow in its transaction, give up waiting
	 * for a row that somebody has locked: a table to select from. With PostgreSQL that
	 * spares a thread that has to cancel it from outside.
	 */
	String patience(int seconds) {
		return boundsWaitingItself() ? "set_config('lock_timeout', '%ss', true) AS patience".formatted(seconds) : "";
	}

	/** Whether statements need no time-out of the driver's. */
	boolean boundsWaitingItself() {
		return this == POSTGRESQL;
	}

	/**
	 * Whether a statement that is a transaction of its own changes the latest state of a
	 * row at every isolation, and does not fail because that is younger than its
	 * snapshot.
	 */
	boolean changesTheLatest() {
		return this == MARIADB;
	}

	/** Whether it tells other connections of what was committed. */
	boolean notifies() {
		return this == POSTGRESQL;
	}

	static JdbcDialect of(String product) {
		return switch (product) {
			case "H2" -> H2;
			case "PostgreSQL" -> POSTGRESQL;
			case "MariaDB" -> MARIADB;
			default -> throw new LockConfigurationException(
					"The lock store 'jdbc' does not know the database '%s'. Keep locks in H2, PostgreSQL or MariaDB, or in another store."
						.formatted(product));
		};
	}

}
