package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.MariaDbServer;

import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for settings that change the counts and generated keys which MySQL's driver
 * reports, and for those of the session. The server is MariaDB.
 */
@Slow
class MySqlSettingsTests {

	@AutoClose
	private static final MariaDbServer SERVER = MariaDbServer.started();

	private final JdbcTemplate jdbc = new JdbcTemplate(unpooled(""));

	@BeforeEach
	void dropTables() {
		this.jdbc.execute("DROP TABLE IF EXISTS holdfast_lock, holdfast_lock_reader, audit");
	}

	@ParameterizedTest
	@ValueSource(strings = { "useAffectedRows=true", "useServerPrepStmts=true&cachePrepStmts=true",
			"cachePrepStmts=true&cacheServerConfiguration=true&useLocalSessionState=true&elideSetAutoCommits=true",
			"rewriteBatchedStatements=true&allowMultiQueries=true",
			"useServerPrepStmts=true&useCursorFetch=true&defaultFetchSize=1", "dontTrackOpenResources=true",
			"emulateUnsupportedPstmts=false&useServerPrepStmts=true", "characterEncoding=ISO-8859-1",
			"connectionCollation=latin1_swedish_ci", "queryTimeoutKillsConnection=true", "enableQueryTimeouts=false",
			"useCompression=true", "sendFractionalSeconds=false", "useLocalTransactionState=true",
			"sessionVariables=autocommit=0", "sessionVariables=auto_increment_increment=2,auto_increment_offset=2",
			"sessionVariables=last_insert_id=5", "sessionVariables=time_zone='-11:00'",
			"sessionVariables=completion_type=CHAIN", "sessionVariables=sql_safe_updates=1",
			"sessionVariables=sql_mode='ANSI'", "sessionVariables=sql_mode='ANSI_QUOTES,PIPES_AS_CONCAT'",
			"sessionVariables=sql_mode='TRADITIONAL'", "sessionVariables=sql_mode='NO_UNSIGNED_SUBTRACTION'",
			"sessionVariables=sql_mode='SIMULTANEOUS_ASSIGNMENT'", "sessionVariables=sql_mode='ORACLE'",
			"sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'", "sessionVariables=sql_mode=''",
			"sessionVariables=tx_isolation='SERIALIZABLE'", "sessionVariables=tx_isolation='READ-UNCOMMITTED'",
			"sessionVariables=tx_isolation='READ-COMMITTED'" })
	void locksExcludeEachOtherWithEveryOption(String options) throws Exception {
		LocksUnderSettings.assertExcludeEachOther(unpooled(options));
		try (HikariDataSource pool = pool(options)) {
			LocksUnderSettings.assertExcludeEachOther(pool);
			assertRenewed(pool);
		}
	}

	@Test
	void locksCommitInAPoolWithoutAutoCommit() throws Exception {
		try (HikariDataSource pool = pool("")) {
			pool.setAutoCommit(false);
			LocksUnderSettings.assertExcludeEachOther(pool);
			assertRenewed(pool);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "useMysqlMetadata=true", "useMysqlMetadata=true&useAffectedRows=true",
			"useMysqlMetadata=true&useServerPrepStmts=true", "useMysqlMetadata=true&allowMultiQueries=true",
			"useMysqlMetadata=true&sessionVariables=auto_increment_increment=2",
			"useMysqlMetadata=true&useBulkStmts=true&rewriteBatchedStatements=true",
			"useMysqlMetadata=true&returnMultiValuesGeneratedIds=true" })
	void locksExcludeEachOtherWithTheDriverOfMariaDb(String options) throws Exception {
		try (HikariDataSource pool = pool("")) {
			pool.setJdbcUrl(SERVER.jdbcUrl() + "?" + options);
			assertThat(new JdbcTemplate(pool)
				.execute((Connection connection) -> connection.getMetaData().getDatabaseProductName()))
				.isEqualTo("MySQL");
			LocksUnderSettings.assertExcludeEachOther(pool);
			assertRenewed(pool);
		}
	}

	@Test
	void columnWithAutoIncrementChangesNoToken() throws Exception {
		JdbcContract.createTables(unpooled(""));
		this.jdbc.execute("ALTER TABLE holdfast_lock ADD COLUMN id BIGINT NOT NULL AUTO_INCREMENT UNIQUE");
		LocksUnderSettings.assertExcludeEachOther(unpooled(""));
		assertRenewed(unpooled(""));
	}

	@Test
	void generatedColumnsChangeNoToken() throws Exception {
		JdbcContract.createTables(unpooled(""));
		this.jdbc.execute("ALTER TABLE holdfast_lock ADD COLUMN held BIGINT AS (until_us) STORED,"
				+ " ADD COLUMN changed TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP");
		LocksUnderSettings.assertExcludeEachOther(unpooled(""));
		assertRenewed(unpooled(""));
	}

	/** The server forgets the generated key while it runs the statements of a trigger. */
	@ParameterizedTest
	@ValueSource(strings = { "BEFORE UPDATE", "AFTER UPDATE" })
	void triggerThatLosesTheTokenStopsTheStart(String event) {
		JdbcContract.createTables(unpooled(""));
		audit(event);
		try (JdbcLockBackend store = JdbcContract.backend(unpooled(""))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("drop the trigger");
		}
		assertThat(this.jdbc.queryForList("SELECT lock_id FROM holdfast_lock UNION SELECT what FROM audit")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "BEFORE INSERT", "AFTER INSERT" })
	void triggerOfInsertionsChangesNoToken(String event) throws Exception {
		JdbcContract.createTables(unpooled(""));
		audit(event);
		LocksUnderSettings.assertExcludeEachOther(unpooled(""));
	}

	private void audit(String event) {
		this.jdbc.execute("CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(64))");
		this.jdbc.execute("CREATE TRIGGER audited " + event
				+ " ON holdfast_lock FOR EACH ROW INSERT INTO audit(what) VALUES (NEW.lock_id)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "useAffectedRows=true" })
	void oneOfManyAcquiresANewLock(String options) throws Exception {
		JdbcContract.createTables(unpooled(""));
		ExecutorService threads = Executors.newFixedThreadPool(32);
		try (HikariDataSource one = pool(options); HikariDataSource two = pool(options)) {
			JdbcLockBackend first = patient(one);
			JdbcLockBackend second = patient(two);
			one.setMaximumPoolSize(16);
			two.setMaximumPoolSize(16);
			for (int round = 0; round < 50; round++) {
				LockName lock = LockName.of("stock", UUID.randomUUID());
				List<Callable<AcquireResult>> claims = new ArrayList<>();
				for (int i = 0; i < 32; i++) {
					JdbcLockBackend store = (i % 2 == 0) ? first : second;
					LockMode mode = (round % 2 == 1 && i % 4 == 0) ? LockMode.SHARED : LockMode.EXCLUSIVE;
					claims.add(() -> ask(store, LocksUnderSettings.claim(lock, mode)));
				}
				assertOneWriterOrReaders(threads.invokeAll(claims));
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** A busy machine does not answer 32 claims at once within the usual timeout. */
	private static JdbcLockBackend patient(DataSource dataSource) {
		return new JdbcLockBackend(dataSource,
				new JdbcLockOptions("test", JdbcContract.TABLE, Duration.ofMinutes(1), true));
	}

	private static void assertOneWriterOrReaders(List<Future<AcquireResult>> claims) throws Exception {
		List<LockMode> granted = new ArrayList<>();
		for (Future<AcquireResult> claim : claims) {
			AcquireResult result = claim.get();
			assertThat(result).isNotInstanceOf(AcquireResult.Indeterminate.class);
			if (result instanceof AcquireResult.Acquired acquired) {
				granted.add(acquired.grant().claim().mode());
			}
		}
		assertThat(granted).isNotEmpty();
		if (granted.contains(LockMode.EXCLUSIVE)) {
			assertThat(granted).hasSize(1);
		}
	}

	private static void assertRenewed(DataSource dataSource) throws Exception {
		try (JdbcLockBackend store = JdbcContract.backend(dataSource)) {
			store.verify();
			List<Grant> grants = new ArrayList<>();
			for (int i = 0; i < 5; i++) {
				grants.add(granted(store,
						LocksUnderSettings.claim(LockName.of("stock", UUID.randomUUID()), LockMode.EXCLUSIVE)));
			}
			for (int i = 0; i < 3; i++) {
				grants.add(granted(store,
						LocksUnderSettings.claim(LockName.of("stock", UUID.randomUUID()), LockMode.SHARED)));
			}
			for (RenewResult result : store.renew(grants).toCompletableFuture().join()) {
				assertThat(result).isInstanceOf(RenewResult.Renewed.class);
			}
			released(store, grants.get(2));
			List<RenewResult> results = store.renew(grants).toCompletableFuture().join();
			for (int i = 0; i < results.size(); i++) {
				assertThat(results.get(i))
					.isInstanceOf((i == 2) ? RenewResult.Refused.class : RenewResult.Renewed.class);
			}
		}
	}

	private static DriverManagerDataSource unpooled(String options) {
		return new DriverManagerDataSource(SERVER.mySqlUrl() + "?" + options, MariaDbServer.USERNAME,
				MariaDbServer.PASSWORD);
	}

	private static HikariDataSource pool(String options) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(SERVER.mySqlUrl() + "?" + options);
		pool.setUsername(MariaDbServer.USERNAME);
		pool.setPassword(MariaDbServer.PASSWORD);
		pool.setMaximumPoolSize(4);
		return pool;
	}

}
