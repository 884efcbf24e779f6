package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.support.Resources;

/**
 * The statements for advisory locks in one mode. Their texts are resources of this
 * package.
 */
final class AdvisoryStatements {

	private final String table;

	private final String shared;

	final DirectStatement acquire;

	final DirectStatement await;

	final DirectStatement release;

	final DirectStatement advanceTokens;

	final DirectStatement extend;

	final DirectStatement clean;

	AdvisoryStatements(String table, LockMode mode) {
		this.table = table;
		this.shared = (mode == LockMode.SHARED) ? "_shared" : "";
		this.acquire = statement("acquire");
		this.await = statement("await");
		this.release = statement("release");
		this.advanceTokens = statement("advance-tokens");
		this.extend = statement("extend");
		this.clean = statement("clean");
	}

	private DirectStatement statement(String name) {
		return DirectStatement.of(text(name).replace("${settings}", text("settings"))
			.replace("${now}", JdbcDialect.POSTGRESQL.now())
			.replace("${shared}", this.shared)
			.replace("${table}", this.table), 0);
	}

	/** Returns a statement of operators, which is for all modes. */
	static DirectStatement query(String name, String table) {
		return DirectStatement.of(text(name).replace("${held}", text("held")).replace("${table}", table), 0);
	}

	static String text(String name) {
		return Resources.text(AdvisoryStatements.class, "advisory-" + name + ".sql");
	}

}
