package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.test.server.MariaDbServer;

class MariaDbLockBackendContractTests extends JdbcServerContract<MariaDbServer> {

	MariaDbLockBackendContractTests() {
		super(MariaDbServer.started());
	}

	@Override
	String urlAt(int port) {
		return this.server.jdbcUrl(port);
	}

	@Override
	String username() {
		return MariaDbServer.USERNAME;
	}

	@Override
	String password() {
		return MariaDbServer.PASSWORD;
	}

}
