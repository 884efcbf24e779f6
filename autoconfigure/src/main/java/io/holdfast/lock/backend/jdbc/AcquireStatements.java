package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.spi.Claim;

/**
 * The statements that acquire an exclusive lock.
 */
final class AcquireStatements {

	private final DirectStatement acquire;

	/** For a claim that does not wait. */
	private final DirectStatement acquireOrDemand;

	/** For a claim whose lease is sticky. */
	private final DirectStatement acquireSticky;

	/** For a claim whose lease is sticky and which does not wait. */
	private final DirectStatement acquireStickyOrDemand;

	/**
	 * Acquires a free lock at less cost than {@link #acquire}, which follows if this
	 * returns no row; {@code null} if it would not cost less.
	 */
	private final @Nullable DirectStatement acquireFree;

	/** Acquires a lock without a row; {@code null} if the other statements do so. */
	private final @Nullable DirectStatement insertOwned;

	AcquireStatements(StatementTexts texts) {
		JdbcDialect dialect = texts.dialect();
		String claim = dialect.variant("acquire");
		String stickyClaim = dialect.variant(dialect.notifies() ? "acquire-sticky" : "acquire");
		this.acquire = texts.direct(claim);
		this.acquireSticky = texts.direct(stickyClaim);
		this.acquireOrDemand = dialect.notifies() ? texts.orDemand(claim) : this.acquire;
		this.acquireStickyOrDemand = dialect.notifies() ? texts.orDemand(stickyClaim) : this.acquire;
		this.acquireFree = (dialect == JdbcDialect.H2) ? texts.direct(dialect.variant("acquire-free")) : null;
		this.insertOwned = dialect.returnsChangedRows() ? null : texts.direct(dialect.variant("insert-owned"));
	}

	/**
	 * Makes one attempt of a claim for an exclusive lock.
	 * @param sticky whether the instance expects the demand for the lease
	 */
	Attempt attempt(Connection connection, Claim claim, boolean sticky, ClaimParameters parameters)
			throws SQLException {
		boolean waits = !claim.remainingWait().isZero();
		DirectStatement statement = sticky ? (waits ? this.acquireSticky : this.acquireStickyOrDemand)
				: (waits ? this.acquire : this.acquireOrDemand);
		if (returnsTokenAsKey()) {
			long token = acquireRow(statement, connection, parameters::getValue);
			return Attempt.of(token > 0, token);
		}
		Attempt attempt = (this.acquireFree != null) ? first(this.acquireFree, connection, claim, parameters) : null;
		attempt = (attempt != null) ? attempt : first(statement, connection, claim, parameters);
		return (attempt != null) ? attempt : Attempt.REJECTED;
	}

	private static @Nullable Attempt first(DirectStatement statement, Connection connection, Claim claim,
			ClaimParameters parameters) throws SQLException {
		return statement.first(connection, parameters::getValue,
				(row) -> Attempt.of(row.getString(1).equals(claim.owner().value()), row.getLong(2)));
	}

	/**
	 * Updates the row of the lock, or inserts it. A concurrent claim may have inserted it
	 * meanwhile. In any case, an update returns the token: if the table has got a column
	 * with AUTO_INCREMENT, the insertion returns the number of that.
	 */
	private long acquireRow(DirectStatement update, Connection connection,
			Function<String, ? extends @Nullable Object> parameters) throws SQLException {
		DirectStatement.Generated token = update.generated(connection, parameters);
		if (token.rows() == 0) {
			Objects.requireNonNull(this.insertOwned).update(connection, parameters);
			token = update.generated(connection, parameters);
		}
		return token.number();
	}

	/** Whether the token comes back as a generated key, which may get lost. */
	boolean returnsTokenAsKey() {
		return this.insertOwned != null;
	}

	/**
	 * Fails if an acquired lock would seem to be rejected, because its token does not
	 * come back as a key. Rolls the transaction back, so it leaves nothing behind. The
	 * row is one that no other instance inserts.
	 */
	void verifyToken(Connection connection) throws SQLException {
		Map<String, Object> parameters = Map.of("id", UUID.randomUUID().toString(), "name", "", "owner", "probe",
				"lease", 0);
		long token = acquireRow(this.acquire, connection, parameters::get);
		connection.rollback();
		if (token <= 0) {
			throw new LockConfigurationException(
					"Backend 'jdbc': the database does not return the fencing token, so no lock could be acquired. MySQL does not return it if the table has a trigger: drop the trigger. If a proxy is in between, connect to the database directly.");
		}
	}

	/**
	 * The result of one attempt for an exclusive lock.
	 *
	 * @param token the token, or zero if it was rejected
	 * @param wanted whether other claims wait for the lease, which is sticky, or the
	 * sticky lease that rejects the claim was demanded
	 */
	record Attempt(long token, boolean wanted) {

		private static final Attempt REJECTED = new Attempt(0, false);

		private static Attempt of(boolean granted, long number) {
			return new Attempt(granted ? Math.abs(number) : 0, number < 0);
		}

	}

}
