package io.holdfast.lock.backend.zookeeper;

import org.apache.curator.framework.CuratorFramework;

import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

/**
 * A client of a real server, whose connection and session a test can end.
 */
final class RealZooKeeperClient implements AutoCloseable {

	/** Outlasts a pause of this process. */
	private static final int SESSION_MILLIS = 30_000;

	private final ZooKeeperServer server;

	private final TcpProxy wire;

	private final CuratorFramework curator;

	private final CuratorCalls calls;

	RealZooKeeperClient(ZooKeeperServer server) {
		this.server = server;
		this.wire = TcpProxy.to(server.port());
		this.curator = ZooKeeperLockBackendContractTests.client(this.wire.port(), SESSION_MILLIS);
		this.calls = new CuratorCalls(this.curator);
	}

	ZooKeeperCalls calls() {
		return this.calls;
	}

	void breakConnection() {
		this.wire.cut();
	}

	void endSession() throws Exception {
		ZooKeeperLockBackendContractTests.endSession(this.curator, this.server.connectString());
	}

	@Override
	public void close() {
		this.calls.close();
		this.curator.close();
		this.wire.close();
	}

}
