package io.holdfast.verification;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes with eight buyers each sell one product: every order reads the stock,
 * thinks, computes and writes. With {@code @DistributedLock} no sale is lost. Without it,
 * or with the lock let go before the commit, some are: these runs prove that this test
 * could see a loss.
 */
class LostUpdateTests {

	private static final Logger logger = LoggerFactory.getLogger(LostUpdateTests.class);

	private static final int PROCESSES = 2;

	private static final int BUYERS_PER_PROCESS = 8;

	private static final int STOCK = 100_000;

	private static final AtomicLong PRODUCTS = new AtomicLong(1000);

	private static PostgresServer database;

	private static RedisServer redis;

	private static List<SampleProcess> processes = List.of();

	@BeforeAll
	static void start() {
		database = PostgresServer.started();
		redis = RedisServer.started();
		processes = SampleProcess.start(PROCESSES,
				List.of("--spring.profiles.active=postgres,redis", "--spring.datasource.url=" + database.jdbcUrl(),
						"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
						"--distributed-lock.redis.address=" + redis.address(), "--distributed-lock.wait-time=50s"));
	}

	@AfterAll
	static void stop() {
		processes.forEach(SampleProcess::close);
		redis.close();
		database.close();
	}

	@Test
	void lockAroundTheTransactionLosesNothing() throws Exception {
		Load load = load(2000, "distributed");
		Map<Integer, Integer> answers = run(load);
		Books books = books(load);
		report(load, books);
		assertThat(answers).as("answers by status").containsExactly(Map.entry(201, load.orders()));
		assertThat(books.entries()).hasSize(load.orders());
		assertThat(books.lost(STOCK)).as("lost updates").isZero();
		assertThat(books.tokens()).as("fencing tokens in the order of the writes")
			.isSortedAccordingTo(Long::compare)
			.doesNotHaveDuplicates()
			.doesNotContain(0L);
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "inside" })
	void otherWaysLoseSome(String lock) throws Exception {
		int lost = 0;
		for (int orders = 100; lost == 0 && orders <= 1600; orders *= 2) {
			Load load = load(orders, lock);
			Map<Integer, Integer> answers = run(load);
			assertThat(answers).as("answers by status").containsExactly(Map.entry(201, load.orders()));
			Books books = books(load);
			report(load, books);
			lost = books.lost(STOCK);
		}
		assertThat(lost).as("lost updates that this test must see").isPositive();
	}

	private static Load load(int orders, String lock) {
		return new Load(PRODUCTS.incrementAndGet(), orders, BUYERS_PER_PROCESS, 2, lock);
	}

	private static Map<Integer, Integer> run(Load load) throws Exception {
		Load.setStock(processes.get(0), load.product(), STOCK);
		return load.run(processes);
	}

	private static void report(Load load, Books books) {
		logger.info("lock={}: {} orders, {} lost updates", load.lock(), books.entries().size(), books.lost(STOCK));
	}

	private static Books books(Load load) throws SQLException {
		return Books.of(database.jdbcUrl(), load.product());
	}

}
