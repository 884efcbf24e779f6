package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that two processes with eight buyers each lose no sale of one product. Every
 * order reads the stock, waits, computes and writes. With {@code @DistributedLock} no
 * sale is lost, whatever the store. Without the lock, or if the lock is released before
 * the commit, sales are lost. These runs prove that the test detects a loss.
 */
class LostUpdateTests {

	private static final int ORDERS = 1_000;

	private static final int REDLOCK_NODES = 5;

	@AutoClose
	private static final PostgresServer database = PostgresServer.started();

	@Test
	void redisLosesNothing() throws Exception {
		try (RedisServer redis = RedisServer.started();
				Shop shop = new Shop(database, "redis", "--distributed-lock.redis.address=" + redis.address())) {
			assertNothingIsLost(shop, 2 * ORDERS);
		}
	}

	@Test
	void jdbcLosesNothing() throws Exception {
		try (Shop shop = new Shop(database, "jdbc")) {
			assertNothingIsLost(shop, ORDERS / 4);
		}
	}

	@Test
	void zooKeeperLosesNothing() throws Exception {
		try (ZooKeeperServer zooKeeper = ZooKeeperServer.started();
				Shop shop = new Shop(database, "zookeeper",
						"--spring.cloud.zookeeper.connect-string=" + zooKeeper.connectString())) {
			assertNothingIsLost(shop, ORDERS);
		}
	}

	@Test
	void etcdLosesNothing() throws Exception {
		try (EtcdServer etcd = EtcdServer.started();
				Shop shop = new Shop(database, "etcd", "--distributed-lock.etcd.endpoints=" + etcd.endpoint())) {
			assertNothingIsLost(shop, ORDERS);
		}
	}

	@Test
	void redlockLosesNothing() throws Exception {
		List<RedisServer> nodes = Stream.generate(RedisServer::started).limit(REDLOCK_NODES).toList();
		// new nodes do not vote before an earlier lease could have expired
		try (Shop shop = new Shop(database, "redlock", "--distributed-lock.lease-time=3s",
				"--distributed-lock.redlock.nodes="
						+ nodes.stream().map(RedisServer::address).collect(Collectors.joining(",")))) {
			assertNothingIsLost(shop, ORDERS / 4);
		}
		finally {
			nodes.forEach(RedisServer::close);
		}
	}

	private static void assertNothingIsLost(Shop shop, int orders) throws Exception {
		Shop.Sale sale = shop.sell(orders, "distributed");
		assertThat(sale.answers()).as("answers by status").containsExactly(Map.entry(201, sale.load().orders()));
		assertThat(sale.records().entries()).hasSize(sale.load().orders());
		assertThat(sale.lost()).as("lost updates").isZero();
		assertThat(sale.records().tokens()).as("fencing tokens in the order of the writes")
			.isSortedAccordingTo(Long::compare)
			.doesNotHaveDuplicates()
			.doesNotContain(0L);
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "inside" })
	void otherModesLoseUpdates(String lock) throws Exception {
		try (RedisServer redis = RedisServer.started();
				Shop shop = new Shop(database, "redis", "--distributed-lock.redis.address=" + redis.address())) {
			int lost = 0;
			for (int orders = 100; lost == 0 && orders <= 1600; orders *= 2) {
				Shop.Sale sale = shop.sell(orders, lock);
				assertThat(sale.answers()).as("answers by status")
					.containsExactly(Map.entry(201, sale.load().orders()));
				lost = sale.lost();
			}
			assertThat(lost).as("lost updates that this test must see").isPositive();
		}
	}

}
