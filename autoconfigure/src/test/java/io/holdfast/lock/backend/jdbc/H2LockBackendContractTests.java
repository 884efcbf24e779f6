package io.holdfast.lock.backend.jdbc;

import java.util.Map;
import java.util.UUID;

import io.holdfast.lock.test.contract.Ability;

class H2LockBackendContractTests extends JdbcContract {

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	@Override
	String url(int client) {
		return this.url;
	}

	@Override
	protected Map<Ability, String> lacks() {
		String inProcess = "H2 runs within this process";
		return Map.of(Ability.DEMAND, "its instances send each other no messages", Ability.FAIR,
				"waiters ask again after a random pause", Ability.SIGNAL, "waiters poll", Ability.KILLED_SESSION,
				"a grant is tied to no session", Ability.LOST_REPLY, inProcess, Ability.CUT_CONNECTION, inProcess,
				Ability.RESTART, inProcess, Ability.PAUSE, inProcess);
	}

}
