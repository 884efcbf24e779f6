package io.holdfast.lock.test.server;

import java.util.List;

import io.holdfast.lock.test.contract.StoreFaults;

/**
 * What can be done to a store that is one server, with a wire to it for each client.
 */
public class ServerFaults implements StoreFaults {

	private final ServerProcess server;

	private final List<TcpProxy> wires;

	private final String acquisition;

	/**
	 * Create the faults.
	 * @param server the server
	 * @param acquisition what only the request of an acquisition has in it
	 * @param wires the wires, the first client's first
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
