package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

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
		if (this.insertOwned != null) {
			return acquireRow(statement, this.insertOwned, connection, parameters);
		}
		Attempt attempt = statement.first(connection, parameters::getValue,
				(row) -> Attempt.of(row.getString(1).equals(claim.owner().value()), row.getLong(2)));
		return (attempt != null) ? attempt : Attempt.REJECTED;
	}

	/**
	 * Updates the row of the lock, or inserts it. A concurrent claim may have inserted it
	 * meanwhile.
	 */
	private Attempt acquireRow(DirectStatement update, DirectStatement insert, Connection connection,
			ClaimParameters parameters) throws SQLException {
		DirectStatement.Generated token = update.generated(connection, parameters::getValue);
		if (token.rows() == 0) {
			token = insert.generated(connection, parameters::getValue);
		}
		if (token.rows() == 0) {
			token = update.generated(connection, parameters::getValue);
		}
		return Attempt.of(token.number() > 0, token.number());
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
