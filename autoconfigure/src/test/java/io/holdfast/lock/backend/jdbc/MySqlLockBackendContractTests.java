package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Runs the contract with the driver of MySQL, which sends the statements for MySQL.
 * Debian has no MySQL, so the server is MariaDB.
 */
class MySqlLockBackendContractTests extends JdbcServerContract<MariaDbServer> {

	MySqlLockBackendContractTests() {
		super(MariaDbServer.started());
	}

	@Override
	String urlAt(int port) {
		return this.server.mySqlUrl(port);
	}

	@Override
	String username() {
		return MariaDbServer.USERNAME;
	}

	@Override
	String password() {
		return MariaDbServer.PASSWORD;
	}

	@Override
	String acquisition() {
		return "INSERT IGNORE INTO " + TABLE;
	}

}
