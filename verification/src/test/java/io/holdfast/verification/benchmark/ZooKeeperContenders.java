package io.holdfast.verification.benchmark;

import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/**
 * Locks of other libraries on ZooKeeper, and the limit.
 */
final class ZooKeeperContenders {

	private ZooKeeperContenders() {
	}

	private static CuratorFramework curator(int port) {
		CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, new RetryOneTime(100));
		client.start();
		return client;
	}

	static Contender raw(int port) throws Exception {
		CuratorFramework client = curator(port);
		ZooKeeper keeper = client.getZookeeperClient().getZooKeeper();
		return new RawLimit(new RawLimit.Store() {

			@Override
			public boolean create(String key) throws Exception {
				try {
					keeper.create("/raw-" + key, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
					return true;
				}
				catch (KeeperException.NodeExistsException ex) {
					return false;
				}
			}

			@Override
			public void delete(String key) throws Exception {
				keeper.delete("/raw-" + key, 0);
			}

		});
	}

	static Contender curatorMutex(int port) {
		CuratorFramework client = curator(port);
		return (key, section) -> {
			InterProcessMutex mutex = new InterProcessMutex(client, "/curator/" + key);
			if (!mutex.acquire(Contender.WAIT_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("The mutex was not acquired");
			}
			try {
				section.run();
			}
			finally {
				mutex.release();
			}
		};
	}

	static Contender springIntegration(int port) {
		ZookeeperLockRegistry registry = new ZookeeperLockRegistry(curator(port), "/integration");
		return (key, section) -> Contender.locked(registry.obtain(key), section);
	}

}
