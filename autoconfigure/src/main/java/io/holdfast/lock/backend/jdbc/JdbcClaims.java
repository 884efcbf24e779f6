package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;

/**
 * Sends claims to the database and interprets its answers. Blocks until the database has
 * answered.
 *
 * @param connections provides the connections
 * @param statements returns the statements
 * @param waits how rejected claims wait, and how sticky leases are demanded
 * @param options how locks are kept
 */
record JdbcClaims(JdbcConnections connections, JdbcLookup.StatementSource statements, ClaimWaits waits,
		JdbcLockOptions options) {

	/** Makes one attempt, which has the given number. */
	AcquireResult send(Claim claim, long number) throws SQLException {
		AcquireResult result = (claim.mode() == LockMode.SHARED) ? acquireShared(claim, number)
				: acquire(claim, number);
		if (result instanceof AcquireResult.Acquired || claim.remainingWait().isZero()) {
			this.waits.forget(claim.owner());
		}
		return result;
	}

	private AcquireResult acquire(Claim claim, long number) throws SQLException {
		JdbcStatements sql = this.statements.get();
		ClaimParameters parameters = parameters(claim, 0);
		return this.connections.direct((connection) -> {
			Response response = ask(connection, claim, parameters);
			if (response.attempt().token() > 0) {
				return granted(claim, response);
			}
			return claim.remainingWait().isZero()
					? this.waits.contended(claim, null, false, response.attempt().wanted())
					: announce(connection, sql, claim, number, parameters);
		});
	}

	/**
	 * Expects the demand for a sticky lease before the request is sent, because it may
	 * overtake the answer. Without the connection that listens, the lease is not sticky.
	 * A claim that fails may never be made again, and expects no demand, unless another
	 * attempt of it does.
	 */
	private Response ask(Connection connection, Claim claim, ClaimParameters parameters) throws SQLException {
		JdbcStatements sql = this.statements.get();
		CompletionStage<?> wanted = this.waits.expectDemand(claim, sql.notify != null);
		boolean granted = false;
		try {
			AcquireStatements.Attempt attempt = sql.acquire.attempt(connection, claim, wanted != null, parameters);
			granted = attempt.token() > 0;
			return new Response(attempt, wanted);
		}
		finally {
			if (wanted != null && !granted) {
				this.waits.dismissDemand(claim.owner());
			}
		}
	}

	/**
	 * Expects a notification only after a rejection. The announcement that follows finds
	 * out whether the lock was released in the meantime.
	 */
	private AcquireResult announce(Connection connection, JdbcStatements sql, Claim claim, long number,
			ClaimParameters parameters) throws SQLException {
		CompletionStage<@Nullable ReleaseNotice> signal = this.waits.expect(claim, number, sql.notify != null);
		JdbcStatements.Announced announced = sql.announce(connection, parameters);
		if (announced.free()) {
			// it has waited by now, so others may wait behind it
			Response response = ask(connection, claim, parameters(claim, 0));
			if (response.attempt().token() > 0) {
				return granted(claim, response);
			}
		}
		CompletionStage<?> news = (signal != null) ? signal.thenApply((notice) -> kept(claim, notice, announced))
				: null;
		return this.waits.contended(claim, news, announced.first(), announced.demanded());
	}

	/** Returns the lock that is kept for a claim, which then no longer waits. */
	private @Nullable KeptLock kept(Claim claim, @Nullable ReleaseNotice notice, JdbcStatements.Announced announced) {
		KeptLock kept = (notice != null) ? notice.keptFor(claim, announced.token(), announced.micros()) : null;
		if (kept != null) {
			this.waits.forget(claim.owner());
		}
		return kept;
	}

	private AcquireResult granted(Claim claim, Response response) {
		CompletionStage<?> wanted = response.wanted();
		if (response.attempt().wanted()) {
			this.waits.demand(claim.owner());
		}
		Grant grant = new Grant(claim, response.attempt().token(), claim.leaseTime());
		return new AcquireResult.Acquired((wanted != null) ? grant.withDemand(wanted) : grant);
	}

	/** Expects a notification before the transaction that may announce the reader. */
	private AcquireResult acquireShared(Claim claim, long number) throws SQLException {
		JdbcStatements sql = this.statements.get();
		CompletionStage<?> signal = this.waits.expect(claim, number, sql.notify != null);
		SharedRows.Attempt attempt = new SharedRows(this.connections, sql, parameters(claim, 0))
			.acquire(!claim.remainingWait().isZero());
		return (attempt.token() > 0) ? new AcquireResult.Acquired(new Grant(claim, attempt.token(), claim.leaseTime()))
				: this.waits.contended(claim, signal, attempt.first(), attempt.demanded());
	}

	/** Returns the parameters of the statements for one claim or grant. */
	ClaimParameters parameters(Claim claim, long token) {
		return new ClaimParameters(claim, this.options.id(claim.lock()), token, this.waits.waitedMicros(claim.owner()),
				TimeUnit.MILLISECONDS.toMicros(this.options.responseTimeout().toMillis()));
	}

	/**
	 * The response to an exclusive claim.
	 *
	 * @param attempt what the database has answered
	 * @param wanted completes when the lease is demanded; {@code null} if it may not be
	 * sticky
	 */
	private record Response(AcquireStatements.Attempt attempt, @Nullable CompletionStage<?> wanted) {
	}

}
