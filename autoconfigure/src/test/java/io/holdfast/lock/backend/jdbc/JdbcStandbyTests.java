package io.holdfast.lock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a real standby that replicates asynchronously and takes over without the last
 * grants that its primary confirmed.
 */
@Slow
class JdbcStandbyTests {

	private static final LockRequest REQUEST = LockRequest.forLock(LockName.of("stock", "42"))
		.waitTime(Duration.ofSeconds(30))
		.leaseTime(Duration.ofSeconds(20))
		.build();

	private final List<AutoCloseable> opened = new ArrayList<>();

	private PostgresServer primary;

	private TcpProxy replication;

	private PostgresServer standby;

	private long received;

	@BeforeEach
	void startBoth() {
		this.primary = closedLater(PostgresServer.started());
		this.replication = closedLater(TcpProxy.to(this.primary.port()));
		this.standby = closedLater(PostgresServer.standbyOf(this.replication.port()));
		HikariDataSource pool = pool(1);
		JdbcContract.createTables(pool);
		new ResourceDatabasePopulator(
				new ByteArrayResource(JdbcFencingGuard.schema("holdfast_fence").getBytes(StandardCharsets.UTF_8)))
			.execute(pool);
		JdbcClient jdbc = JdbcClient.create(pool);
		jdbc.sql("CREATE TABLE stock (quantity INT)").update();
		jdbc.sql("INSERT INTO stock VALUES (100)").update();
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	private <T extends AutoCloseable> T closedLater(T closeable) {
		this.opened.add(0, closeable);
		return closeable;
	}

	/** Returns connections to the server that accepts writes. */
	private HikariDataSource pool(int size) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(
				"jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary&hostRecheckSeconds=0"
					.formatted(this.primary.port(), this.standby.port()));
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaximumPoolSize(size);
		pool.setConnectionTimeout(1_000);
		return closedLater(pool);
	}

	private LockEngine engine() {
		return closedLater(
				new LockEngine(new LockBackends(List.of(JdbcContract.backend(pool(3))), JdbcLockBackend.NAME),
						EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of()));
	}

	/**
	 * Stops replication. The standby has received all earlier grants and receives no
	 * later one.
	 */
	private void stopReplication() {
		long confirmed = number(this.primary, "SELECT pg_current_wal_lsn() - '0/0'");
		Awaitility.await("the standby to have it all")
			.atMost(BOUND)
			.until(() -> number(this.standby, "SELECT pg_last_wal_replay_lsn() - '0/0'") >= confirmed);
		this.replication.close();
		Awaitility.await("the primary to have no standby")
			.atMost(BOUND)
			.until(() -> number(this.primary, "SELECT count(*) FROM pg_stat_replication") == 0);
		this.received = received();
	}

	private long received() {
		return number(this.standby, "SELECT pg_last_wal_receive_lsn() - '0/0'");
	}

	private long number(PostgresServer server, String query) {
		HikariDataSource pool = closedLater(new HikariDataSource());
		pool.setJdbcUrl(server.jdbcUrl());
		pool.setMaximumPoolSize(1);
		try (pool) {
			return JdbcClient.create(pool).sql(query).query(Long.class).single();
		}
	}

	private void failOver() {
		assertThat(received()).as("what the standby has received, once replication was stopped")
			.isEqualTo(this.received);
		this.primary.kill();
		this.standby.promote();
	}

	@Test
	void standbyWithoutTheLockAdmitsASecondHolder() throws Exception {
		LockEngine one = engine();
		LockEngine other = engine();
		LockHandle earlier = one.acquire(REQUEST);
		earlier.close();
		stopReplication();
		LockHandle first = closedLater(one.acquire(REQUEST));
		CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
		first.onLost(lost::complete);
		failOver();
		LockHandle second = closedLater(other.acquire(REQUEST));
		assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
		assertThat(first.fencingToken()).isGreaterThan(earlier.fencingToken());
		assertThat(lost.get(30, TimeUnit.SECONDS).cause()).isEqualTo(LossCause.REFUSED);
		first.close();
		assertThat(one.tryAcquire(REQUEST.toBuilder().waitTime(Duration.ZERO).build())).isEmpty();
		second.assertHeld();
	}

	/**
	 * The standby lacks the same changes of the fence and of the data that the fence
	 * protects. So the fence rejects no holder because of a lost change, and no existing
	 * change is overwritten.
	 */
	@Test
	void fenceRevertsWithItsDataAndRejectsTheFirstHolder() {
		LockEngine one = engine();
		LockEngine other = engine();
		Shop shop = new Shop(pool(2));
		stopReplication();
		LockHandle first = closedLater(one.acquire(REQUEST));
		shop.sellOne(first);
		assertThat(shop.quantity()).isEqualTo(99);
		failOver();
		LockHandle second = closedLater(other.acquire(REQUEST));
		Awaitility.await("a new connection")
			.atMost(BOUND)
			.ignoreExceptions()
			.until(shop::quantity, (now) -> now == 100);
		shop.sellOne(first);
		assertThat(shop.quantity()).isEqualTo(99);
		shop.sellOne(second);
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.sellOne(first));
		assertThat(shop.quantity()).isEqualTo(98);
	}

	/** Data and fence in one database. */
	private static final class Shop {

		private final JdbcClient jdbc;

		private final JdbcFencingGuard guard;

		private final TransactionTemplate transaction;

		Shop(HikariDataSource pool) {
			this.jdbc = JdbcClient.create(pool);
			this.guard = new JdbcFencingGuard(pool, "holdfast_fence",
					(hold) -> LockDigest.of(hold.backend(), hold.lock()));
			this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
		}

		int quantity() {
			return this.jdbc.sql("SELECT quantity FROM stock").query(Integer.class).single();
		}

		void sellOne(LockHandle hold) {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.advance(hold);
				this.jdbc.sql("UPDATE stock SET quantity = ?").param(quantity() - 1).update();
			});
		}

	}

}
