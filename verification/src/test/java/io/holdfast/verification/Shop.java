package io.holdfast.verification;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.lock.test.server.PostgresServer;

/**
 * Two processes of the sample application on one PostgreSQL, with their locks in one
 * store and eight buyers each.
 */
final class Shop implements AutoCloseable {

	static final int STOCK = 100_000;

	private static final Logger logger = LoggerFactory.getLogger(Shop.class);

	private static final int PROCESSES = 2;

	private static final int BUYERS_PER_PROCESS = 8;

	private static final int THINK_MILLIS = 2;

	private static final AtomicLong PRODUCTS = new AtomicLong(1000);

	private final String store;

	private final PostgresServer database;

	private final List<SampleProcess> processes;

	/**
	 * Starts the processes.
	 * @param store the profile of the store
	 * @param settings the location of the store, as arguments of the sample application
	 */
	Shop(PostgresServer database, String store, String... settings) {
		this.store = store;
		this.database = database;
		List<String> arguments = new ArrayList<>(
				List.of("--spring.profiles.active=postgres," + store, "--spring.datasource.url=" + database.jdbcUrl(),
						"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
						"--distributed-lock.wait-time=50s"));
		arguments.addAll(List.of(settings));
		this.processes = SampleProcess.start(PROCESSES, arguments);
	}

	/**
	 * Places orders for a new product.
	 * @param lock the locking strategy of the orders
	 */
	Sale sell(int orders, String lock) throws Exception {
		Load load = new Load(PRODUCTS.incrementAndGet(), orders, BUYERS_PER_PROCESS, THINK_MILLIS, lock);
		Load.setStock(this.processes.get(0), load.product(), STOCK);
		Map<Integer, Integer> answers = load.run(this.processes);
		Sale sale = new Sale(load, answers, records(load));
		logger.info("store={} lock={}: {} orders, {} lost updates", this.store, lock, sale.records().entries().size(),
				sale.lost());
		return sale;
	}

	private StockRecords records(Load load) throws SQLException {
		return StockRecords.of(this.database.jdbcUrl(), load.product());
	}

	@Override
	public void close() {
		this.processes.forEach(SampleProcess::close);
	}

	/**
	 * The result of placing orders.
	 *
	 * @param load the orders
	 * @param answers the number of responses by status
	 * @param records the state of the database
	 */
	record Sale(Load load, Map<Integer, Integer> answers, StockRecords records) {

		int lost() {
			return this.records.lost(STOCK);
		}

	}

}
