package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the modes in which H2 imitates other databases, as in the tests of
 * applications.
 */
class H2ModesTests {

	private final LockName lock = LockName.of("stock", UUID.randomUUID());

	@ParameterizedTest
	@ValueSource(strings = { "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
			"MODE=MariaDB;DATABASE_TO_LOWER=TRUE", "MODE=MySQL;CASE_INSENSITIVE_IDENTIFIERS=TRUE", "MODE=MSSQLServer",
			"MODE=DB2", "MODE=Derby", "MODE=HSQLDB", "MODE=LEGACY", "MODE=STRICT",
			"CASE_INSENSITIVE_IDENTIFIERS=TRUE" })
	void locksExcludeEachOtherInEveryMode(String settings) throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";" + settings);
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			store.verify();
			long last = 0;
			for (int i = 0; i < 3; i++) {
				Claim claim = claim(LockMode.EXCLUSIVE);
				Grant grant = ((AcquireResult.Acquired) ask(store, claim)).grant();
				assertThat(grant.storeToken()).isGreaterThan(last);
				last = grant.storeToken();
				assertThat(ask(store, claim)).isInstanceOf(AcquireResult.Acquired.class);
				assertThat(ask(store, claim(LockMode.EXCLUSIVE))).isInstanceOf(AcquireResult.Contended.class);
				assertThat(ask(store, claim(LockMode.SHARED))).isInstanceOf(AcquireResult.Contended.class);
				assertThat(store.release(grant).toCompletableFuture().get()).isInstanceOf(ReleaseResult.Released.class);
			}
			Grant reader = ((AcquireResult.Acquired) ask(store, claim(LockMode.SHARED))).grant();
			assertThat(ask(store, claim(LockMode.EXCLUSIVE))).isInstanceOf(AcquireResult.Contended.class);
			store.release(reader);
			store.close();
		}
	}

	@Test
	void emptyTextThatIsNullIsRejected() {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";MODE=Oracle");
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("treats an empty text as NULL");
			store.close();
		}
	}

	private Claim claim(LockMode mode) {
		return new Claim(this.lock, OwnerId.random(), mode, Duration.ofSeconds(20), false, Duration.ZERO, false);
	}

	private static AcquireResult ask(JdbcLockBackend store, Claim claim) throws Exception {
		return store.tryAcquire(claim).toCompletableFuture().get();
	}

}
