package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two backends on one PostgreSQL server, for tests of sticky leases. Counts their
 * statements.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PostgresStickyFixture {

	static final Duration LONG = Duration.ofHours(1);

	final PostgresServer server = PostgresServer.started();

	final List<AutoCloseable> opened = new ArrayList<>();

	/** Number of statements that both backends have sent. */
	final AtomicInteger statements = new AtomicInteger();

	/** By how much the clock of the backends is ahead, in nanoseconds. */
	final AtomicLong ahead = new AtomicLong();

	final HikariDataSource pool = pool(this.server.port());

	final JdbcClient jdbc = JdbcClient.create(this.pool);

	final JdbcLockBackend first = backend(this.pool);

	final JdbcLockBackend second = backend(this.pool);

	LockName lock;

	@BeforeAll
	void createTables() {
		JdbcContract.createTables(this.pool);
	}

	@BeforeEach
	void chooseLock() {
		this.lock = OnEveryDatabase.newLock();
	}

	@AfterEach
	void closeEngines() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.opened.clear();
		assertThat(this.jdbc.sql("SELECT lock_name FROM holdfast_lock WHERE owner <> ''").query(String.class).list())
			.isEmpty();
		assertThat(this.first.waiting() + this.second.waiting()).isZero();
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.pool.close();
		this.server.close();
	}

	static HikariDataSource pool(int port) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port));
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaximumPoolSize(8);
		pool.setMinimumIdle(0);
		return pool;
	}

	JdbcLockBackend backend(DataSource dataSource) {
		return backend(dataSource, JdbcContract.PATIENCE);
	}

	JdbcLockBackend backend(DataSource dataSource, Duration responseTimeout) {
		SchedulingClock clock = new SchedulingClock() {

			@Override
			public long nanos() {
				return System.nanoTime() + PostgresStickyFixture.this.ahead.get();
			}

			@Override
			public Runnable after(long delayNanos, Runnable task) {
				throw new UnsupportedOperationException("Claims on a database schedule nothing");
			}

		};
		return new JdbcLockBackend(counted(dataSource),
				new JdbcLockOptions("test", JdbcContract.TABLE, responseTimeout, true), clock);
	}

	DataSource counted(DataSource dataSource) {
		return HookedConnections.beforeEach(dataSource, (method, arguments) -> {
			if (method.equals("prepareStatement")) {
				this.statements.incrementAndGet();
			}
		});
	}

	static Claim claim(LockName lock, LockMode mode, Duration remainingWait, boolean sticky) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(30), true, remainingWait, false, sticky);
	}

	Claim nonWaiting() {
		return claim(this.lock, LockMode.EXCLUSIVE, Duration.ZERO, false);
	}

	/**
	 * Acquires locks until a lease is sticky, which requires a connection that listens.
	 */
	static void listens(LockBackend backend) {
		Awaitility.await("a sticky lease").atMost(BOUND).until(() -> {
			Grant grant = soonGranted(backend,
					claim(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE, Duration.ZERO, true));
			soonReleased(backend, grant);
			return grant.sticky();
		});
	}

	static boolean demanded(LockBackend store, Claim claim) throws Exception {
		return ((AcquireResult.Contended) ask(store, claim)).demanded();
	}

}
