package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.RenewResult.Indeterminate;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for simultaneous renewals of many leases, on real servers.
 */
class JdbcRenewalTests extends OnEveryDatabase {

	private static final int MANY = 250;

	static Stream<Arguments> everyDatabaseAndMode() {
		return Stream.of(Database.values())
			.flatMap((database) -> Stream.of(LockMode.values()).map((mode) -> Arguments.of(database, mode)));
	}

	/**
	 * With one statement per lease, the renewal took one second for the locked row, and
	 * 250 round trips.
	 */
	@Slow
	@ParameterizedTest
	@MethodSource("everyDatabaseAndMode")
	void lockedRowFailsOnlyItsOwnRenewal(Database database, LockMode mode) throws Exception {
		DataSource pool = opened(database, 2);
		AtomicInteger statements = new AtomicInteger();
		LockBackend patient = JdbcContract.patientBackend(counting(pool, statements));
		List<Grant> grants = grants(patient, mode, MANY);
		statements.set(0);
		assertThat(answer(patient.renew(grants))).hasSize(MANY).allMatch(Renewed.class::isInstance);
		assertThat(statements).as("statements without a locked row").hasValueLessThanOrEqualTo(15);
		released(patient, grants.get(0));
		LockBackend store = JdbcContract.backend(counting(pool, statements));
		try (Connection other = lockRow(pool, grants.get(7))) {
			statements.set(0);
			List<RenewResult> results = answer(store.renew(grants));
			assertThat(statements).as("statements with a locked row").hasValueLessThanOrEqualTo(27);
			assertThat(results.get(0)).isInstanceOf(Refused.class);
			assertThat(results.get(7)).isInstanceOf(Indeterminate.class);
			assertThat(results).filteredOn(Renewed.class::isInstance).hasSize(MANY - 2);
			other.rollback();
		}
		assertThat(answer(store.renew(grants.subList(7, 8)))).singleElement().isInstanceOf(Renewed.class);
	}

	/**
	 * MariaDB and MySQL would read a small table as a whole. A statement that changes
	 * rows would then wait for those of other locks.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "MYSQL" })
	void renewalFindsTheRowsOfASmallTableByTheirKeys(Database database) throws Exception {
		DataSource pool = opened(database, 2);
		JdbcContract.createTables(pool, "small");
		LockBackend store = JdbcContract.patientBackend(pool, "small");
		grants(store, LockMode.SHARED, 20);
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		jdbc.queryForList("ANALYZE TABLE small, small_reader");
		List<String> ids = jdbc.queryForList("SELECT lock_id FROM small", String.class).subList(0, 19);
		List<Object[]> own = ids.stream().map((id) -> new Object[] { id, "owner", 1 }).toList();
		JdbcStatements sql = new JdbcStatements(new StatementTexts(JdbcDialect.valueOf(database.name()), "small", 1));
		assertThat(List.of(sql.renew, sql.renewReaders, sql.countReaders))
			.allSatisfy((text) -> assertThat(new NamedParameterJdbcTemplate(pool).queryForList("EXPLAIN " + text,
					Map.of("ids", ids, "own", own, "lease", 1)))
				.as(text)
				.anySatisfy((step) -> assertThat(step).containsEntry("key", "PRIMARY").containsEntry("type", "range")));
	}

	@ParameterizedTest
	@MethodSource("everyDatabaseAndMode")
	void leasesAreRenewedEachByItsOwnDuration(Database database, LockMode mode) throws Exception {
		LockBackend store = JdbcContract.patientBackend(opened(database, 2));
		Grant one = granted(store, claim(mode, Duration.ofSeconds(30)));
		Grant other = granted(store, claim(mode, Duration.ofSeconds(50)));
		assertThat(answer(store.renew(List.of(one, other)))).containsExactly(new Renewed(Duration.ofSeconds(30)),
				new Renewed(Duration.ofSeconds(50)));
		assertThat(answer(store.renew(List.of(one, other, one)))).hasSize(3).allMatch(Renewed.class::isInstance);
		released(store, one);
		released(store, other);
		assertThat(answer(store.renew(List.of(one, other)))).hasSize(2).allMatch(Refused.class::isInstance);
	}

	private static Claim claim(LockMode mode, Duration lease) {
		return new Claim(newLock(), OwnerId.random(), mode, lease, true, Duration.ZERO, false);
	}

	private static List<Grant> grants(LockBackend store, LockMode mode, int count) throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			grants.add(granted(store, nonWaiting(newLock(), mode)));
		}
		return grants;
	}

	private static Connection lockRow(DataSource pool, Grant grant) throws SQLException {
		Connection connection = pool.getConnection();
		connection.setAutoCommit(false);
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT token FROM holdfast_lock WHERE lock_id = ? FOR UPDATE")) {
			statement.setString(1, LockDigest.of("test", grant.claim().lock()));
			assertThat(statement.executeQuery().next()).isTrue();
		}
		return connection;
	}

	/** Returns connections that count the statements and commits sent over them. */
	private static DataSource counting(DataSource pool, AtomicInteger statements) {
		return HookedConnections.beforeEach(pool, (method, arguments) -> {
			if (List.of("prepareStatement", "commit").contains(method)) {
				statements.incrementAndGet();
			}
		});
	}

}
