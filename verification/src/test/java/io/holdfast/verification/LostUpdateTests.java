package io.holdfast.verification;

import java.util.Map;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that two processes with eight buyers each lose no sale of one product. Every
 * order reads the stock, waits, computes and writes. Without the lock, or if the lock is
 * released before the commit, sales are lost, which proves that the test detects a loss.
 *
 * @see StoreTests
 */
class LostUpdateTests {

	private static final int ORDERS = 1_000;

	@AutoClose
	private static final PostgresServer database = PostgresServer.started();

	@AutoClose
	private static final RedisServer redis = RedisServer.started();

	@AutoClose
	private static final Shop shop = new Shop(database, "redis", "--distributed-lock.redis.address=" + redis.address());

	@Test
	void distributedLockLosesNothing() throws Exception {
		shop.sell(ORDERS, "distributed").assertNothingIsLost();
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "inside" })
	void otherModesLoseUpdates(String lock) throws Exception {
		int lost = 0;
		for (int orders = 100; lost == 0 && orders <= 1600; orders *= 2) {
			Sale sale = shop.sell(orders, lock);
			assertThat(sale.answers()).as("answers by status").containsExactly(Map.entry(201, orders));
			lost = sale.lost();
		}
		assertThat(lost).as("lost updates that this test must see").isPositive();
	}

}
