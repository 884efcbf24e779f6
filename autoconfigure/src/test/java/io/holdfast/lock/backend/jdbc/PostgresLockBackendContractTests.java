package io.holdfast.lock.backend.jdbc;

import java.util.Map;

import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.server.PostgresServer;

class PostgresLockBackendContractTests extends JdbcServerContract<PostgresServer> {

	PostgresLockBackendContractTests() {
		super(PostgresServer.started());
	}

	@Override
	String urlAt(int port) {
		return "jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port);
	}

	@Override
	String username() {
		return PostgresServer.USERNAME;
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.FAIR, "who asks first when the lock is free gets it", Ability.KILLED_SESSION,
				"a grant is tied to no session");
	}

}
