package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.test.Slow;

/**
 * Runs the contract with the driver of MySQL, which sends the statements for MySQL.
 * Debian has no MySQL, so the server is MariaDB.
 */
@Slow
class MySqlLockBackendContractTests extends MariaDbLockBackendContractTests {

	@Override
	String urlAt(int port) {
		return this.server.mySqlUrl(port);
	}

	@Override
	String acquisition() {
		return "INSERT IGNORE INTO " + TABLE;
	}

}
