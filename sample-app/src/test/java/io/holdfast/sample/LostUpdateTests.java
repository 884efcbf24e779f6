package io.holdfast.sample;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the three locking strategies of an order with default settings, as a user would
 * try them.
 */
class LostUpdateTests {

	private static final int STOCK = 1000;

	@AutoClose
	private static final RunningSample sample = RunningSample.start("--distributed-lock.wait-time=30s");

	@Test
	void lockedOrdersLoseNoUpdates() throws Exception {
		assertThat(lostUpdates(1, "distributed")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "inside" })
	void otherModesLoseUpdates(String lock) throws Exception {
		assertThat(lostUpdates(2, lock)).isGreaterThan(0);
	}

	private static int lostUpdates(long product, String lock) throws Exception {
		sample.bean(JdbcClient.class).sql("delete from stock_order where product = ?").param(product).update();
		sample.setStock(product, STOCK);
		ExecutorService buyers = Executors.newFixedThreadPool(8);
		try {
			List<Callable<Integer>> orders = IntStream.range(0, 40).mapToObj((i) -> (Callable<Integer>) () -> {
				sample.order(product, "quantity=1&thinkMillis=5&lock=" + lock).expectStatus().isCreated();
				return 1;
			}).toList();
			int sold = 0;
			for (Future<Integer> order : buyers.invokeAll(orders)) {
				sold += order.get();
			}
			assertThat(sold).isEqualTo(sum(product));
			return sold - (STOCK - sample.stock(product));
		}
		finally {
			buyers.shutdownNow();
		}
	}

	private static int sum(long product) {
		return sample.bean(JdbcClient.class)
			.sql("select sum(quantity) from stock_order where product = ?")
			.param(product)
			.query(Integer.class)
			.single();
	}

}
