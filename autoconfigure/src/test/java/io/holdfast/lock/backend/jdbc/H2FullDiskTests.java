package io.holdfast.lock.backend.jdbc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.h2.store.fs.FileBaseDefault;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks in an H2 database whose disk becomes full.
 */
class H2FullDiskTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private final Disk disk = new Disk();

	@TempDir
	private Path directory;

	@BeforeEach
	void mount() {
		FilePath.register(this.disk);
	}

	@AfterEach
	void unmount() {
		FilePath.unregister(this.disk);
	}

	@Test
	void fullDiskIsExplainedAndReopeningTheFileKeepsTheLock() throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:%s:%s".formatted(Disk.SCHEME, this.directory.resolve("locks")));
			pool.setUsername("sa");
			JdbcClient.create(pool).sql("SET WRITE_DELAY 0").update();
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			Grant grant = granted(store, LocksUnderSettings.claim(LOCK, LockMode.EXCLUSIVE));
			Disk.full = true;
			try {
				AcquireResult other = answer(
						store.tryAcquire(LocksUnderSettings.claim(LockName.of("stock", "43"), LockMode.EXCLUSIVE)));
				assertExplained(((AcquireResult.Indeterminate) other).cause());
				assertExplained(((RenewResult.Indeterminate) renewed(store, grant)).cause());
				assertExplained(((ReleaseResult.Indeterminate) answer(store.release(grant))).cause());
			}
			finally {
				Disk.full = false;
			}
			pool.getHikariPoolMXBean().softEvictConnections();
			Awaitility.await().until(() -> renewed(store, grant) instanceof RenewResult.Renewed);
			released(store, grant);
			Grant next = granted(store, LocksUnderSettings.claim(LOCK, LockMode.EXCLUSIVE));
			assertThat(next.storeToken()).isGreaterThan(grant.storeToken());
			store.close();
		}
	}

	private static void assertExplained(Throwable cause) {
		assertThat(cause).isInstanceOf(LockBackendException.class)
			.hasMessageContaining("The disk of the database is full: ")
			.hasMessageContaining("restart the application that has opened it");
	}

	/** A directory of this machine that may be full. H2 creates one for each file. */
	public static final class Disk extends FilePathWrapper {

		static final String SCHEME = "disk";

		static volatile boolean full;

		@Override
		public String getScheme() {
			return SCHEME;
		}

		@Override
		public FileChannel open(String mode) throws IOException {
			return new File(super.open(mode));
		}

	}

	/** A file that cannot be written while its disk is full. */
	private static final class File extends FileBaseDefault {

		private final FileChannel file;

		File(FileChannel file) {
			this.file = file;
		}

		@Override
		public long size() throws IOException {
			return this.file.size();
		}

		@Override
		public int read(ByteBuffer target, long position) throws IOException {
			return this.file.read(target, position);
		}

		@Override
		public int write(ByteBuffer source, long position) throws IOException {
			if (Disk.full) {
				throw new IOException("No space left on device");
			}
			return this.file.write(source, position);
		}

		@Override
		protected void implTruncate(long length) throws IOException {
			this.file.truncate(length);
		}

		@Override
		public FileLock tryLock(long position, long length, boolean shared) throws IOException {
			return this.file.tryLock(position, length, shared);
		}

		@Override
		protected void implCloseChannel() throws IOException {
			this.file.close();
		}

	}

}
