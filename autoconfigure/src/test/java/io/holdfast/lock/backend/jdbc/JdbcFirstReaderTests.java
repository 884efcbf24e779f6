package io.holdfast.lock.backend.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.ask;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the first reader of a lock, whose row another reader inserts meanwhile.
 */
class JdbcFirstReaderTests extends OnEveryDatabase {

	@Slow
	@ParameterizedTest
	@EnumSource
	void noWriterIsGrantedTheLockWhileTheFirstReaderIsAdmitted(Database database) throws Exception {
		LockName lock = newLock();
		DataSource others = opened(database, 4);
		JdbcLockBackend writers = track(JdbcContract.backend(others));
		List<AcquireResult> writer = new ArrayList<>();
		AtomicBoolean looked = new AtomicBoolean();
		AtomicBoolean inserted = new AtomicBoolean();
		JdbcLockBackend readers = track(
				JdbcContract.backend(HookedConnections.beforeEach(opened(database, 4), (method, sql) -> {
					if (method.equals("prepareStatement") && looked.get() && inserted.compareAndSet(false, true)) {
						insertRow(others, lock);
					}
					looked.compareAndSet(false, method.equals("prepareStatement") && sql.contains("FOR UPDATE"));
					if (sql.contains("INSERT INTO holdfast_lock_reader")) {
						writer
							.add(writers.tryAcquire(nonWaiting(lock, LockMode.EXCLUSIVE)).toCompletableFuture().join());
					}
				})));
		List<AcquireResult> all = new ArrayList<>();
		all.add(ask(readers, nonWaiting(lock, LockMode.SHARED)));
		all.addAll(writer);
		// PostgreSQL ends the reader's transaction, which waits for the writer's answer
		assertThat(writer).hasSize(1);
		assertThat(all).filteredOn(AcquireResult.Acquired.class::isInstance).hasSizeLessThanOrEqualTo(1);
	}

	private static void insertRow(DataSource dataSource, LockName lock) {
		JdbcClient.create(dataSource)
			.sql("INSERT INTO holdfast_lock (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us) VALUES (?, '', '', 0, 0, 0, 0)")
			.param(LockDigest.of("test", lock))
			.update();
	}

}
