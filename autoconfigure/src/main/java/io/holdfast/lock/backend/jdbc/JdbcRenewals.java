package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.RenewResult.Indeterminate;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;
import io.holdfast.lock.support.Batches;

/**
 * Renews many leases with few statements, without waiting for rows that another
 * transaction has locked. One locked row must not cost other locks their leases.
 */
final class JdbcRenewals {

	/** A statement locks all of its rows while it runs. */
	private static final int MOST_AT_ONCE = 100;

	/**
	 * How often to try a locked row. A contended acquisition also locks its row for a
	 * moment.
	 */
	private static final int TRIES = 3;

	/** An INSERT that has updated a row instead counts it twice. */
	private static final int COUNT_OF_AN_UPDATED_ROW = 2;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final JdbcConnections connections;

	private final JdbcStatements sql;

	private final JdbcLockOptions options;

	private final Map<Row, RenewResult> results = new HashMap<>();

	JdbcRenewals(JdbcConnections connections, JdbcStatements sql, JdbcLockOptions options) {
		this.connections = connections;
		this.sql = sql;
		this.options = options;
	}

	List<RenewResult> renew(List<Grant> grants) {
		Map<Kind, List<Grant>> kinds = grants.stream()
			.collect(Collectors.groupingBy(Kind::of, LinkedHashMap::new, Collectors.toList()));
		kinds.forEach((kind, ofKind) -> Batches.of(ofKind, MOST_AT_ONCE).forEach((batch) -> renewBatch(kind, batch)));
		return grants.stream().map((grant) -> this.results.get(row(grant))).toList();
	}

	private void renewBatch(Kind kind, List<Grant> grants) {
		Map<Row, Grant> left = grants.stream()
			.collect(Collectors.toMap(this::row, Function.identity(), (one, same) -> one, LinkedHashMap::new));
		try {
			for (int number = 1; !left.isEmpty() && number <= TRIES; number++) {
				if (number > 1) {
					LockSupport.parkNanos(PAUSE_NANOS);
				}
				renewOnce(kind, left);
			}
			left.forEach((row, grant) -> this.results.put(row, new Indeterminate(isLocked(grant))));
		}
		catch (SQLException ex) {
			Exception cause = JdbcErrors.unknown(ex);
			left.keySet().forEach((row) -> this.results.put(row, new Indeterminate(cause)));
		}
		catch (RuntimeException ex) {
			left.keySet().forEach((row) -> this.results.put(row, new Indeterminate(ex)));
		}
	}

	/** Removes all leases from the map except those whose rows are locked. */
	private void renewOnce(Kind kind, Map<Row, Grant> left) throws SQLException {
		Pass pass = kind.shared() ? this.connections.together((jdbc) -> passOfReaders(jdbc, kind, left))
				: this.connections.single((jdbc) -> passOfOwners(jdbc, kind, left));
		left.keySet().removeIf((row) -> {
			boolean renewed = pass.renewed().contains(row);
			if (renewed || !pass.stillOwn().contains(row)) {
				this.results.put(row, renewed ? new Renewed(kind.lease()) : new Refused());
				return true;
			}
			return false;
		});
	}

	private Pass passOfOwners(NamedParameterJdbcOperations jdbc, Kind kind, Map<Row, Grant> grants) {
		Map<String, Object> parameters = parameters(kind, grants);
		Set<Row> renewed = (this.sql.renewed != null)
				? renewAndCount(jdbc, this.sql.renewed, parameters, Set.copyOf(grants.keySet()))
				: Set.copyOf(jdbc.query(this.sql.renew, parameters, Row.MAPPER));
		return new Pass(renewed, (renewed.size() == grants.size()) ? renewed
				: Set.copyOf(jdbc.query(this.sql.stillOwn, parameters, Row.MAPPER)));
	}

	/**
	 * Renews leases by a statement that returns only how many it has renewed. If some of
	 * them are not, renews them again and compares the times to find out which.
	 */
	private Set<Row> renewAndCount(NamedParameterJdbcOperations jdbc, String which, Map<String, Object> parameters,
			Set<Row> leases) {
		if (jdbc.update(this.sql.renew, parameters) == leases.size() * COUNT_OF_AN_UPDATED_ROW) {
			return leases;
		}
		Map<String, Object> again = new HashMap<>(parameters);
		again.put("since", jdbc.queryForObject(this.sql.now, Map.of(), Long.class));
		jdbc.update(this.sql.renew, again);
		return Set.copyOf(jdbc.query(which, again, Row.MAPPER));
	}

	private Pass passOfReaders(NamedParameterJdbcOperations jdbc, Kind kind, Map<Row, Grant> grants) {
		Map<String, Object> parameters = parameters(kind, grants);
		Set<String> free = Set.copyOf(jdbc.queryForList(this.sql.lockRows, parameters, String.class));
		Set<Row> stillOwn = Set.copyOf(jdbc.query(this.sql.stillOwnReaders, parameters, Row.MAPPER));
		Map<Row, Grant> renewed = new HashMap<>(grants);
		renewed.keySet().removeIf((row) -> !stillOwn.contains(row) || !free.contains(row.lockId()));
		if (!renewed.isEmpty()) {
			jdbc.update(this.sql.renewReaders, parameters(kind, renewed));
			jdbc.update(this.sql.countReaders, parameters(kind, renewed));
		}
		return new Pass(renewed.keySet(), stillOwn);
	}

	private Map<String, Object> parameters(Kind kind, Map<Row, Grant> grants) {
		List<String> ids = new ArrayList<>();
		List<Object[]> own = new ArrayList<>();
		grants.forEach((row, grant) -> {
			ids.add(row.lockId());
			own.add(new Object[] { row.lockId(), row.owner(), grant.storeToken() });
		});
		return Map.of("ids", ids, "own", own, "lease", TimeUnit.NANOSECONDS.toMicros(kind.lease().toNanos()));
	}

	private Row row(Grant grant) {
		return new Row(this.options.id(grant.claim().lock()), grant.claim().owner().value());
	}

	private LockBackendException isLocked(Grant grant) {
		return new LockBackendException(
				"Lock '%s' could not be renewed: another transaction has locked its row in the table '%s'. The renewal is retried."
					.formatted(grant.claim().lock(), this.options.table()));
	}

	/**
	 * Properties that leases have in common if one statement can renew them.
	 *
	 * @param shared whether the leases are shared
	 * @param lease the new duration
	 */
	private record Kind(boolean shared, Duration lease) {

		static Kind of(Grant grant) {
			return new Kind(grant.claim().mode() == LockMode.SHARED, grant.claim().leaseTime());
		}

	}

	/**
	 * A lock and its owner.
	 *
	 * @param lockId the id of the lock
	 * @param owner the owner id
	 */
	private record Row(String lockId, String owner) {

		static final RowMapper<Row> MAPPER = (row, number) -> new Row(row.getString(1), row.getString(2));

	}

	/**
	 * The result of one attempt.
	 *
	 * @param renewed leases that were renewed
	 * @param stillOwn leases that have not expired
	 */
	private record Pass(Set<Row> renewed, Set<Row> stillOwn) {
	}

}
