package io.holdfast.verification;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of orders for one new product that eight buyers per process placed.
 *
 * @param load the orders
 * @param answers the number of responses by status
 * @param records the state of the database
 */
record Sale(Load load, Map<Integer, Integer> answers, StockRecords records) {

	static final int STOCK = 100_000;

	private static final Logger logger = LoggerFactory.getLogger(Sale.class);

	private static final int BUYERS_PER_PROCESS = 8;

	private static final int THINK_MILLIS = 2;

	private static final AtomicLong PRODUCTS = new AtomicLong(100_000);

	/**
	 * Places orders for a new product.
	 * @param database the database of the processes
	 * @param processes the processes that serve the orders
	 * @param orders the number of orders
	 * @param lock the locking strategy of the orders
	 */
	static Sale of(PostgresServer database, List<SampleProcess> processes, int orders, String lock) throws Exception {
		Load load = new Load(PRODUCTS.incrementAndGet(), orders, BUYERS_PER_PROCESS, THINK_MILLIS, lock);
		Load.setStock(processes.get(0), load.product(), STOCK);
		Map<Integer, Integer> answers = load.run(processes);
		Sale sale = new Sale(load, answers, StockRecords.of(database.jdbcUrl(), load.product()));
		logger.info("lock={}: {} orders, {} lost updates", lock, sale.records().entries().size(), sale.lost());
		return sale;
	}

	/**
	 * Asserts that every order was accepted and accounted for, in the order of tokens.
	 */
	void assertNothingIsLost() {
		assertThat(this.answers).as("answers by status").containsExactly(Map.entry(201, this.load.orders()));
		assertThat(this.records.entries()).hasSize(this.load.orders());
		assertThat(lost()).as("lost updates").isZero();
		assertThat(this.records.tokens()).as("fencing tokens in the order of the writes")
			.isSortedAccordingTo(Long::compare)
			.doesNotHaveDuplicates()
			.doesNotContain(0L);
	}

	int lost() {
		return this.records.lost(STOCK);
	}

}
