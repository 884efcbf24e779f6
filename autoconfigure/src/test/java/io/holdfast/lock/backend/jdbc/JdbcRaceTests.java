package io.holdfast.lock.backend.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for many simultaneous requests for one lock, on real servers.
 */
class JdbcRaceTests extends OnEveryDatabase {

	private static final int RACERS = 50;

	private static final int ROUNDS = 100;

	/** A time of the database, in microseconds since the epoch. */
	private static final long NOON = 1_900_000_000_000_000L;

	private static final Duration LEASE = Duration.ofSeconds(30);

	@Slow
	@ParameterizedTest
	@EnumSource
	void firstReadersOfALockAreAllAdmittedAtOnce(Database database) throws Exception {
		LockBackend store = withLongTimeout(opened(database, 20));
		LockName lock = newLock();
		assertThat(race(store, lock, LockMode.SHARED)).hasOnlyElementsOfType(AcquireResult.Acquired.class);
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void oneOfManyFirstWritersWinsAndNoneFails(Database database) throws Exception {
		LockBackend store = withLongTimeout(opened(database, 20));
		List<AcquireResult> results = race(store, newLock(), LockMode.EXCLUSIVE);
		assertThat(results).filteredOn(AcquireResult.Acquired.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(AcquireResult.Contended.class::isInstance).hasSize(RACERS - 1);
	}

	/**
	 * Returns a backend with a long response timeout, because many concurrent requests on
	 * a busy machine may be answered late.
	 */
	private static LockBackend withLongTimeout(HikariDataSource pool) {
		return new JdbcLockBackend(pool, new JdbcLockOptions("test", JdbcContract.TABLE, LEASE, true));
	}

	private static List<AcquireResult> race(LockBackend store, LockName lock, LockMode mode) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(RACERS);
		CyclicBarrier start = new CyclicBarrier(RACERS);
		try {
			List<Future<AcquireResult>> racers = IntStream.range(0, RACERS).mapToObj((i) -> threads.submit(() -> {
				start.await();
				return store.tryAcquire(nonWaiting(lock, mode)).toCompletableFuture().join();
			})).toList();
			List<AcquireResult> results = new ArrayList<>();
			for (Future<AcquireResult> racer : racers) {
				results.add(racer.get(60, TimeUnit.SECONDS));
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * At this isolation level, PostgreSQL fails a statement that waited for a changed
	 * row, and so does MariaDB with a setting that is the default since version 11.6.
	 */
	@Slow
	@ParameterizedTest
	@EnumSource
	void serializableIsolationFailsNoAttempt(Database database) throws Exception {
		HikariDataSource pool = opened(database, 20);
		pool.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		if (database == Database.MARIADB) {
			pool.setConnectionInitSql("SET innodb_snapshot_isolation = ON");
		}
		LockBackend store = withLongTimeout(pool);
		LockName lock = newLock();
		Grant earlier = granted(store, nonWaiting(lock, LockMode.EXCLUSIVE));
		released(store, earlier);
		List<AcquireResult> results = race(store, lock, LockMode.EXCLUSIVE);
		assertThat(results).filteredOn(AcquireResult.Acquired.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(AcquireResult.Contended.class::isInstance).hasSize(RACERS - 1);
		assertThat(race(store, newLock(), LockMode.SHARED)).hasOnlyElementsOfType(AcquireResult.Acquired.class);
		try (Connection connection = pool.getConnection()) {
			assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
		}
	}

	@Slow
	@Test
	void firstWritersAndReadersLeaveNoErrorInTheLogOfPostgres() throws Exception {
		LockBackend store = withLongTimeout(opened(Database.POSTGRESQL, 20));
		long before = errorsInTheLog();
		race(store, newLock(), LockMode.EXCLUSIVE);
		race(store, newLock(), LockMode.SHARED);
		assertThat(errorsInTheLog()).isEqualTo(before);
		assertThatExceptionOfType(BadSqlGrammarException.class)
			.isThrownBy(() -> JdbcClient.create(opened(Database.POSTGRESQL, 1)).sql("no statement").update());
		assertThat(errorsInTheLog()).as("that errors are in the log").isEqualTo(before + 1);
	}

	private static long errorsInTheLog() throws IOException {
		try (Stream<String> lines = Files.lines(postgres.directory().resolve("server.log"))) {
			return lines.filter((line) -> line.contains("ERROR:")).count();
		}
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void oneCallerWinsAtTheEndOfALeaseAndTokensGrow(Database database) throws Exception {
		LockBackend store = withLongTimeout(opened(database, 3));
		LockName lock = newLock();
		ExecutorService threads = Executors.newFixedThreadPool(2);
		try {
			for (int round = 0; round < ROUNDS; round++) {
				Grant ending = granted(store, new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE,
						Duration.ofMillis(5), false, Duration.ZERO, false));
				Queue<Grant> winners = new ConcurrentLinkedQueue<>();
				Future<?> one = threads.submit(() -> take(store, lock, winners));
				Future<?> other = threads.submit(() -> take(store, lock, winners));
				one.get(60, TimeUnit.SECONDS);
				other.get(60, TimeUnit.SECONDS);
				assertThat(winners).as("winners of round %d", round).hasSize(1);
				assertThat(winners.element().storeToken()).isGreaterThan(ending.storeToken());
				released(store, winners.element());
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** Retries until one of the threads has the lock, and once more after that. */
	private static Void take(LockBackend store, LockName lock, Queue<Grant> winners) throws Exception {
		Claim claim = nonWaiting(lock, LockMode.EXCLUSIVE);
		boolean last;
		do {
			last = !winners.isEmpty();
			if (ask(store, claim) instanceof AcquireResult.Acquired acquired) {
				winners.add(acquired.grant());
				return null;
			}
		}
		while (!last);
		return null;
	}

	/**
	 * The clocks of the databases are frozen, so that each request happens at an exact
	 * instant.
	 */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "H2")
	void leaseAtItsEndAdmitsOneOwnerAndCannotBeRenewed(Database database) throws Exception {
		LockBackend atNoon = withLongTimeout(poolAt(database, NOON));
		LockBackend justBeforeTheEnd = withLongTimeout(poolAt(database, NOON + micros(LEASE) - 1));
		LockBackend atTheEnd = withLongTimeout(poolAt(database, NOON + micros(LEASE)));
		LockName lock = newLock();
		Grant ending = granted(atNoon, nonWaiting(lock, LockMode.EXCLUSIVE));
		assertThat(ending.storeToken()).as("the time that it was granted at").isEqualTo(NOON);
		refused(justBeforeTheEnd, nonWaiting(lock, LockMode.EXCLUSIVE));
		assertThat(renewed(atTheEnd, ending)).isInstanceOf(RenewResult.Refused.class);
		Grant next = granted(atTheEnd, nonWaiting(lock, LockMode.EXCLUSIVE));
		assertThat(next.storeToken()).isGreaterThan(ending.storeToken());
		refused(atTheEnd, nonWaiting(lock, LockMode.EXCLUSIVE));
		LockName another = newLock();
		Grant lasting = granted(atNoon, nonWaiting(another, LockMode.EXCLUSIVE));
		assertThat(renewed(justBeforeTheEnd, lasting)).isInstanceOf(RenewResult.Renewed.class);
		refused(atTheEnd, nonWaiting(another, LockMode.EXCLUSIVE));
	}

	/** A statement that waits for its row may see the clock as it was before the wait. */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "H2")
	void statementFromBeforeTheExpiryFindsNoLeaseAfterIt(Database database) throws Exception {
		LockBackend justBeforeTheEnd = withLongTimeout(poolAt(database, NOON + micros(LEASE) - 1));
		LockBackend atTheEnd = withLongTimeout(poolAt(database, NOON + micros(LEASE)));
		LockBackend atNoon = withLongTimeout(poolAt(database, NOON));
		for (LockMode mode : LockMode.values()) {
			LockName lock = newLock();
			LockMode other = (mode == LockMode.SHARED) ? LockMode.EXCLUSIVE : LockMode.SHARED;
			Grant ended = granted(atNoon, nonWaiting(lock, mode));
			Grant next = granted(atTheEnd, nonWaiting(lock, other));
			assertThat(renewed(justBeforeTheEnd, ended)).as(mode.name()).isInstanceOf(RenewResult.Refused.class);
			refused(justBeforeTheEnd, ended.claim());
			assertThat(answer(justBeforeTheEnd.release(ended))).isInstanceOf(ReleaseResult.NotHeld.class);
			released(atTheEnd, next);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "H2")
	void ownerThatRetriesAfterItsLeaseGetsANewToken(Database database) throws Exception {
		LockBackend atNoon = withLongTimeout(poolAt(database, NOON));
		LockBackend atTheEnd = withLongTimeout(poolAt(database, NOON + micros(LEASE)));
		for (LockMode mode : LockMode.values()) {
			Grant ended = granted(atNoon, nonWaiting(newLock(), mode));
			Grant again = granted(atTheEnd, ended.claim());
			assertThat(again.storeToken()).as(mode.name()).isGreaterThan(ended.storeToken());
			released(atTheEnd, again);
		}
	}

	private static long micros(Duration duration) {
		return TimeUnit.NANOSECONDS.toMicros(duration.toNanos());
	}

	/**
	 * Returns connections for which the clock of the database always shows the given
	 * time.
	 */
	private HikariDataSource poolAt(Database database, long micros) {
		HikariDataSource pool = opened(database, 1);
		pool.setConnectionInitSql((database != Database.POSTGRESQL) ? "SET timestamp = %d.%06d"
			.formatted(micros / 1_000_000, micros % 1_000_000) : """
					CREATE SCHEMA IF NOT EXISTS still;
					CREATE OR REPLACE FUNCTION still.clock_timestamp() RETURNS TIMESTAMPTZ VOLATILE LANGUAGE SQL AS
					$$SELECT TIMESTAMPTZ 'epoch' + current_setting('still.micros')::BIGINT * INTERVAL '1 microsecond'$$;
					SET still.micros = '%d'; SET search_path = still, pg_catalog, public""".formatted(micros));
		return pool;
	}

}
