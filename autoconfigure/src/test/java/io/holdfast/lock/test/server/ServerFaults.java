package io.holdfast.lock.test.server;

import java.util.List;

import io.holdfast.lock.test.contract.StoreFaults;

/**
 * Faults of a store that consists of one server, with a proxy for each client.
 */
public class ServerFaults implements StoreFaults {

	private final ServerProcess server;

	private final List<TcpProxy> wires;

	private final String acquisition;

	/**
	 * Creates the faults.
	 * @param server the server
	 * @param acquisition a text that only acquisition requests contain
	 * @param wires the proxies, starting with that of the first client
	 */
	public ServerFaults(ServerProcess server, String acquisition, TcpProxy... wires) {
		this.server = server;
		this.acquisition = acquisition;
		this.wires = List.of(wires);
	}

	@Override
	public void loseNextReply() {
		this.wires.get(0).loseNextReplyTo(this.acquisition);
	}

	@Override
	public void cutConnections() {
		this.wires.forEach(TcpProxy::cut);
	}

	@Override
	public void restart() {
		this.server.kill();
		this.server.start();
	}

	@Override
	public void pause() {
		this.server.pause();
	}

	@Override
	public void resume() {
		this.server.resume();
	}

}
