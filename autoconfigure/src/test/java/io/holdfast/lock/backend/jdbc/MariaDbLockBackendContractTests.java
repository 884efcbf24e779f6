package io.holdfast.lock.backend.jdbc;

import java.util.Map;

import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.TcpProxy;

class MariaDbLockBackendContractTests extends JdbcContract {

	private final MariaDbServer server = MariaDbServer.started();

	private final TcpProxy firstWire = TcpProxy.to(this.server.port());

	private final TcpProxy secondWire = TcpProxy.to(this.server.port());

	@Override
	String url(int client) {
		int port = switch (client) {
			case 1 -> this.firstWire.port();
			case 2 -> this.secondWire.port();
			default -> this.server.port();
		};
		return this.server.jdbcUrl(port) + "?socketTimeout=2000";
	}

	@Override
	String username() {
		return MariaDbServer.USERNAME;
	}

	@Override
	String password() {
		return MariaDbServer.PASSWORD;
	}

	@AfterAll
	void closeAll() {
		this.firstWire.close();
		this.secondWire.close();
		this.server.close();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.FAIR, "waiters ask again after a random pause", Ability.SIGNAL, "waiters poll",
				Ability.KILLED_SESSION, "a grant is tied to no session");
	}

	@Override
	protected StoreFaults faults() {
		return new StoreFaults() {

			@Override
			public void loseNextReply() {
				MariaDbLockBackendContractTests.this.firstWire.loseNextReplyTo("INSERT INTO " + TABLE);
			}

			@Override
			public void cutConnections() {
				MariaDbLockBackendContractTests.this.firstWire.cut();
				MariaDbLockBackendContractTests.this.secondWire.cut();
			}

			@Override
			public void restart() {
				MariaDbLockBackendContractTests.this.server.kill();
				MariaDbLockBackendContractTests.this.server.start();
				MariaDbLockBackendContractTests.this.forgetConnections();
			}

			@Override
			public void pause() {
				MariaDbLockBackendContractTests.this.server.pause();
			}

			@Override
			public void resume() {
				MariaDbLockBackendContractTests.this.server.resume();
			}

		};
	}

}
