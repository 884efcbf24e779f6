package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;

/**
 * What the client's present session is, and how long the server keeps it.
 */
final class ZooKeeperSession {

	private static final long NONE = -1;

	private final CuratorFramework client;

	ZooKeeperSession(CuratorFramework client) {
		this.client = client;
	}

	/** The number of the session, or one that no session has. */
	long id() {
		try {
			return this.client.getZookeeperClient().getZooKeeper().getSessionId();
		}
		catch (Exception ex) {
			return NONE;
		}
	}

	/** What the server has granted, which may be less than was asked for. */
	Duration timeout() {
		try {
			return Duration.ofMillis(this.client.getZookeeperClient().getZooKeeper().getSessionTimeout());
		}
		catch (Exception ex) {
			return Duration.ofMillis(this.client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
		}
	}

}
