package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.support.Resources;

/**
 * The texts of the statements for one database and one table. They are resources of this
 * package.
 *
 * @param dialect the kind of database
 * @param table the name of the table
 * @param timeoutSeconds the longest time that a statement may take
 */
record StatementTexts(JdbcDialect dialect, String table, int timeoutSeconds) {

	/** Returns a statement that every acquisition or release executes. */
	DirectStatement direct(String name) {
		return statement(text(name));
	}

	/**
	 * Returns the statement of a claim that also demands a sticky lease by which it is
	 * rejected.
	 */
	DirectStatement orDemand(String claim) {
		return statement(text("or-demand").replace("${claim}", text(claim)));
	}

	private DirectStatement statement(String text) {
		return DirectStatement.of(text, this.dialect.needsStatementTimeout() ? this.timeoutSeconds : 0);
	}

	/** Returns the text of a statement with named parameters. */
	String text(String name) {
		String settings = this.dialect.settings(this.timeoutSeconds);
		return resource(name).replace("${release-and-notify}", resource("release-and-notify").strip())
			.replace("${release}", resource("release"))
			.replace("${demand}", resource("demand").strip())
			.replace("${written}", this.dialect.notifies() ? resource("written-postgresql").strip() : "1")
			.replace("${waiter-columns}", resource("waiter-columns"))
			.replace("${table}", this.table)
			.replace("${now}", this.dialect.now())
			.replace("${settings}", settings)
			.replace("${andSettings}", settings.isEmpty() ? "" : "AND " + settings)
			.replace("${andTransactionSettings}", this.dialect.andTransactionSettings(this.timeoutSeconds))
			.replace("${byKey}", this.dialect.byKey())
			.replace("${durable}", this.dialect.durable())
			.replace("${channel}", ReleaseNotifications.CHANNEL)
			.replace("${wanted}", ReleaseNotifications.WANTED);
	}

	private static String resource(String name) {
		return Resources.text(StatementTexts.class, name + ".sql");
	}

}
