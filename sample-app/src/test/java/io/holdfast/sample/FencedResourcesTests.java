package io.holdfast.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.client.StatusAssertions;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that resources outside the database reject a stale holder.
 */
class FencedResourcesTests {

	private final LockEngine locks = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	private LockHandle held() {
		LockHandle hold = this.locks.acquire(LockRequest.of("prices"));
		hold.close();
		return hold;
	}

	@Test
	void fileRefusesALateWriter(@TempDir Path directory) throws Exception {
		PriceList prices = new PriceList(directory.resolve("prices"));
		LockHandle overtaken = held();
		LockHandle newer = held();
		prices.write(newer, "apples 3");
		prices.write(newer, "apples 4");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> prices.write(overtaken, "apples 2"))
			.withMessageContaining("newer holder of 'prices'");
		assertThat(prices.prices()).isEqualTo("apples 4");
	}

	/** As an overtaken writer of the same instance does. */
	@Test
	void fileIsWrittenByOneThreadAtATime(@TempDir Path directory) throws Exception {
		PriceList prices = new PriceList(directory.resolve("prices"));
		List<LockHandle> holds = Stream.generate(this::held).limit(4).toList();
		List<CompletableFuture<Void>> writers = holds.stream().map((hold) -> CompletableFuture.runAsync(() -> {
			try {
				for (int i = 0; i < 200; i++) {
					prices.write(hold, "apples " + hold.fencingToken());
				}
			}
			catch (StaleFencingTokenException ex) {
				// overtaken
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		})).toList();
		writers.forEach(CompletableFuture::join);
		assertThat(prices.prices()).isEqualTo("apples " + holds.get(holds.size() - 1).fencingToken());
	}

	@Test
	void serviceRefusesALateRequest() {
		try (RunningSample sample = RunningSample.start()) {
			order(sample, 3, 20).isEqualTo(HttpStatus.OK);
			order(sample, 2, 10).isEqualTo(HttpStatus.PRECONDITION_FAILED);
			order(sample, 4, 21).isEqualTo(HttpStatus.OK);
		}
	}

	private static StatusAssertions order(RunningSample sample, int quantity, long token) {
		return sample.http()
			.put()
			.uri("/suppliers/1/order?quantity={n}", quantity)
			.header("Fencing-Token", Long.toString(token))
			.exchange()
			.expectStatus();
	}

	@Test
	void connectionOfTheApplicationRefusesALateWriter() throws SQLException {
		try (RunningSample sample = RunningSample.start()) {
			LockOperations locks = sample.bean(LockOperations.class);
			StockImport stock = new StockImport(sample.bean(DataSource.class), sample.bean(JdbcFencingGuard.class));
			LockHandle overtaken = locks.acquire(LockRequest.of("stock", 42));
			overtaken.close();
			try (LockHandle newer = locks.acquire(LockRequest.of("stock", 42))) {
				stock.write(newer, 42, 7);
			}
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stock.write(overtaken, 42, 9));
			assertThat(sample.bean(Warehouse.class).product(42).stock()).isEqualTo(7);
		}
	}

	@Test
	void consumerDropsALateMessage() {
		Deliveries deliveries = new Deliveries();
		assertThat(deliveries.receive(new Deliveries.Message(42, 3, 20))).isTrue();
		assertThat(deliveries.receive(new Deliveries.Message(42, 2, 10))).isFalse();
		assertThat(deliveries.expected(42)).isEqualTo(3);
	}

	/**
	 * Writes the stock in a transaction that Spring does not manage.
	 *
	 * @param dataSource the source of the connections
	 * @param guard the guard of the application
	 */
	private record StockImport(DataSource dataSource, JdbcFencingGuard guard) {

		// tag::connection[]
		void write(LockHandle hold, long product, int stock) throws SQLException {
			try (Connection connection = this.dataSource.getConnection()) {
				connection.setAutoCommit(false);
				try {
					this.guard.on(connection).advance(hold);
					update(connection, product, stock);
					connection.commit();
				}
				catch (SQLException | RuntimeException ex) {
					connection.rollback();
					throw ex;
				}
			}
		}
		// end::connection[]

		private static void update(Connection connection, long product, int stock) throws SQLException {
			try (PreparedStatement update = connection.prepareStatement("UPDATE product SET stock = ? WHERE id = ?")) {
				update.setInt(1, stock);
				update.setLong(2, product);
				update.executeUpdate();
			}
		}

	}

}
