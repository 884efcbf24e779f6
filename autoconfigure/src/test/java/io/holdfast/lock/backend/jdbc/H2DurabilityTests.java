package io.holdfast.lock.backend.jdbc;

import java.nio.file.Files;
import java.nio.file.Path;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks in an H2 database in a file, whose process ends without closing it.
 * Other processes, for which it is a server, continue.
 */
@ExtendWith(OutputCaptureExtension.class)
class H2DurabilityTests {

	@TempDir
	private Path directory;

	/**
	 * The copy of the file is what the next process finds after the end of the first.
	 */
	@ParameterizedTest
	@EnumSource
	void leaseIsInTheFileIfCommitsDoNotWait(LockMode mode) throws Exception {
		LockName lock = LockName.of("stock", "42");
		try (HikariDataSource pool = file("locks")) {
			JdbcClient.create(pool).sql("SET WRITE_DELAY 0").update();
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			Grant grant = granted(store, LocksUnderSettings.claim(lock, mode));
			Files.copy(this.directory.resolve("locks.mv.db"), this.directory.resolve("granted.mv.db"));
			assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Renewed.class);
			store.close();
		}
		try (HikariDataSource pool = file("granted"); JdbcLockBackend store = JdbcContract.backend(pool)) {
			refused(store, LocksUnderSettings.claim(lock, LockMode.EXCLUSIVE));
		}
	}

	@Test
	void commitsThatWaitAreWarnedAbout(CapturedOutput output) {
		try (HikariDataSource pool = file("locks")) {
			verify(pool);
			assertThat(output).contains("WRITE_DELAY is 500 ms").contains("SET WRITE_DELAY 0");
		}
	}

	@Test
	void commitsThatDoNotWaitAreNotWarnedAbout(CapturedOutput output) {
		try (HikariDataSource pool = file("locks"); HikariDataSource memory = pool("mem:" + this.directory)) {
			JdbcClient.create(pool).sql("SET WRITE_DELAY 0").update();
			verify(pool);
			verify(memory);
			assertThat(output).doesNotContain("WRITE_DELAY");
		}
	}

	private static void verify(HikariDataSource pool) {
		JdbcContract.createTables(pool);
		try (JdbcLockBackend store = JdbcContract.backend(pool)) {
			store.verify();
		}
	}

	private HikariDataSource file(String name) {
		return pool("file:" + this.directory.resolve(name));
	}

	private static HikariDataSource pool(String database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:" + database);
		pool.setUsername("sa");
		pool.setMaximumPoolSize(2);
		return pool;
	}

}
