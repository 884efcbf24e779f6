package io.holdfast.lock.backend.jdbc;

import io.holdfast.lock.test.server.PostgresServer;

class PostgresLockBackendContractTests extends JdbcServerContract<PostgresServer> {

	PostgresLockBackendContractTests() {
		super(PostgresServer.started());
	}

	@Override
	String urlAt(int port) {
		return "jdbc:postgresql://127.0.0.1:%d/postgres?socketTimeout=2&prepareThreshold=0".formatted(port);
	}

	@Override
	String username() {
		return PostgresServer.USERNAME;
	}

}
