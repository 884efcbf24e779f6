package io.holdfast.lock.backend.jdbc;

import java.util.Map;

import org.junit.jupiter.api.AutoClose;

import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.ServerFaults;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

/**
 * Contract tests on a database that is a server of its own.
 *
 * @param <S> the type of the server
 */
abstract class JdbcServerContract<S extends ServerProcess> extends JdbcContract {

	@AutoClose
	final S server;

	@AutoClose
	private final TcpProxy firstWire;

	@AutoClose
	private final TcpProxy secondWire;

	JdbcServerContract(S server) {
		this.server = server;
		this.firstWire = TcpProxy.to(server.port());
		this.secondWire = TcpProxy.to(server.port());
	}

	/** Returns the JDBC URL of the database behind a port. */
	abstract String urlAt(int port);

	@Override
	String url(int client) {
		return urlAt(switch (client) {
			case 1 -> this.firstWire.port();
			case 2 -> this.secondWire.port();
			default -> this.server.port();
		});
	}

	/** Returns a text that only the requests of acquisitions contain. */
	String acquisition() {
		return "INSERT INTO " + TABLE;
	}

	/** Waits until a restart forgets no commit that a client has seen. */
	void awaitDurability() {
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.DEMAND, "its instances send each other no messages", Ability.FAIR,
				"waiters ask again after a random pause", Ability.SIGNAL, "waiters poll", Ability.KILLED_SESSION,
				"a grant is tied to no session");
	}

	@Override
	protected StoreFaults faults() {
		return new ServerFaults(this.server, acquisition(), this.firstWire, this.secondWire) {

			@Override
			public void restart() {
				awaitDurability();
				super.restart();
				forgetConnections();
			}

		};
	}

}
