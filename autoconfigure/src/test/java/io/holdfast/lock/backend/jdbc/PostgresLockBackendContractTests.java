package io.holdfast.lock.backend.jdbc;

import java.util.Map;

import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.TcpProxy;

class PostgresLockBackendContractTests extends JdbcContract {

	private final PostgresServer server = PostgresServer.started();

	private final TcpProxy firstWire = TcpProxy.to(this.server.port());

	private final TcpProxy secondWire = TcpProxy.to(this.server.port());

	@Override
	String url(int client) {
		int port = switch (client) {
			case 1 -> this.firstWire.port();
			case 2 -> this.secondWire.port();
			default -> this.server.port();
		};
		return "jdbc:postgresql://127.0.0.1:%d/postgres?socketTimeout=2&prepareThreshold=0".formatted(port);
	}

	@Override
	String username() {
		return PostgresServer.USERNAME;
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
				PostgresLockBackendContractTests.this.firstWire.loseNextReplyTo("INSERT INTO " + TABLE);
			}

			@Override
			public void cutConnections() {
				PostgresLockBackendContractTests.this.firstWire.cut();
				PostgresLockBackendContractTests.this.secondWire.cut();
			}

			@Override
			public void restart() {
				PostgresLockBackendContractTests.this.server.kill();
				PostgresLockBackendContractTests.this.server.start();
				PostgresLockBackendContractTests.this.forgetConnections();
			}

			@Override
			public void pause() {
				PostgresLockBackendContractTests.this.server.pause();
			}

			@Override
			public void resume() {
				PostgresLockBackendContractTests.this.server.resume();
			}

		};
	}

}
