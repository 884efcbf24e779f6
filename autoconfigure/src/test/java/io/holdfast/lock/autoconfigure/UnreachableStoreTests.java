package io.holdfast.lock.autoconfigure;

import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.etcd.jetcd.Client;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.AbstractDataSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.backend.etcd.EtcdLockBackend;
import io.holdfast.lock.backend.etcd.EtcdLockOptions;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockOptions;
import io.holdfast.lock.backend.zookeeper.WhenSuspended;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockBackend;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockOptions;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.StoreChecks;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that the check of a store that an application makes itself explains its failure.
 */
class UnreachableStoreTests {

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private static final Duration BOUND = Duration.ofSeconds(10);

	private static void assertExplained(Runnable verify, String message) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(verify::run).withMessageMatching(message);
	}

	@Test
	void zooKeeper() {
		try (CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:1", 1_000, 100,
				new RetryOneTime(1))) {
			client.start();
			ZooKeeperLockBackend backend = new ZooKeeperLockBackend(client,
					new ZooKeeperLockOptions("/holdfast", "shop", WhenSuspended.WAIT));
			assertExplained(backend::verify,
					"ZooKeeper did not respond\\. Check that it is running, and the connect string\\.");
			client.close();
			StoreChecks checks = new StoreChecks(new LockBackends(List.of(backend), "zookeeper"));
			assertExplained(() -> checks.check("zookeeper", BOUND),
					"The store of backend 'zookeeper' cannot be queried: IllegalStateException: the client is not connected\\. Check that it is reachable\\.");
			backend.close();
		}
	}

	@Test
	void etcd() {
		EtcdLockBackend backend = new EtcdLockBackend(Client.builder().endpoints(URI.create("http://127.0.0.1:1")),
				new EtcdLockOptions("shop", TIMEOUT));
		assertExplained(backend::verify,
				"etcd could not be used: .*[^.]\\. Check that it is running( and responds within 'distributed-lock.response-timeout')?, its endpoints, and whether it uses TLS\\.");
		backend.close();
	}

	@Test
	void jdbc() {
		JdbcLockBackend backend = new JdbcLockBackend(new Unreachable(),
				new JdbcLockOptions("shop", "holdfast_lock", TIMEOUT, false));
		assertExplained(backend::verify,
				"The database of the backend 'jdbc' could not be used: SQLException: Connection refused \\(SQL state 08001\\)\\. Check that it is running, and the settings of the DataSource\\.");
		backend.close();
	}

	private static final class Unreachable extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			throw new SQLException("Connection refused.", "08001");
		}

		@Override
		public Connection getConnection(String user, String password) throws SQLException {
			return getConnection();
		}

	}

}
