package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.ReleaseResult;

/**
 * The session of one claim, from its first attempt until the lock is released or the
 * claim is withdrawn. Its connection is either used under the mutex or by the thread that
 * waits for the lock, never by both.
 */
final class AdvisorySession {

	final AdvisorySessions sessions;

	private final Claim claim;

	private final ReentrantLock mutex = new ReentrantLock();

	private AdvisoryState state = AdvisoryState.NEW;

	/** Present from the first attempt on. */
	private volatile @Nullable AdvisoryConnection connection;

	private volatile @Nullable AdvisoryWait wait;

	/** When the attempt before the wait was rejected, on the clock of the database. */
	private long rejectedAt;

	private long token;

	AdvisorySession(AdvisorySessions sessions, Claim claim) {
		this.sessions = sessions;
		this.claim = claim;
	}

	/**
	 * Makes an attempt, or repeats one.
	 * @return the result, or {@code null} if this session has ended
	 */
	@Nullable AcquireResult attempt(Claim attempt) throws SQLException {
		if (attempt.remainingWait().isZero()) {
			stopWaiting();
		}
		this.mutex.lock();
		try {
			return switch (this.state) {
				case NEW -> open(attempt);
				case WAITING -> new AcquireResult.Contended(waiting().laterSignal(), this.sessions.retryAfter(attempt));
				case KEPT, HELD -> extend() ? new AcquireResult.Acquired(grant()) : null;
				case ENDED -> null;
			};
		}
		finally {
			this.mutex.unlock();
		}
	}

	private AcquireResult open(Claim attempt) throws SQLException {
		try {
			AdvisoryConnection opened = this.sessions.connect(attempt);
			this.connection = opened;
			AdvisoryConnection.Response response = opened.tryLock();
			if (response.token() > 0) {
				this.token = response.token();
				this.state = AdvisoryState.HELD;
				return new AcquireResult.Acquired(grant());
			}
			if (attempt.remainingWait().isZero()) {
				end();
				opened.returnToPool();
				return AcquireResult.Contended.polled(this.sessions.retryAfter(attempt));
			}
			return await(attempt, opened, response.micros());
		}
		catch (SQLException | RuntimeException | Error ex) {
			discard(ex);
			throw ex;
		}
	}

	private AcquireResult await(Claim attempt, AdvisoryConnection opened, long micros) {
		AdvisoryWait started = new AdvisoryWait(this, opened, attempt.remainingWait());
		this.rejectedAt = micros;
		this.wait = started;
		this.state = AdvisoryState.WAITING;
		this.sessions.execute(started);
		return new AcquireResult.Contended(started.signal(), this.sessions.retryAfter(attempt));
	}

	private AdvisoryWait waiting() {
		return Objects.requireNonNull(this.wait);
	}

	private AdvisoryConnection connection() {
		return Objects.requireNonNull(this.connection);
	}

	private Grant grant() {
		return new Grant(this.claim, this.token, AdvisoryConnection.lease(this.claim));
	}

	/**
	 * Processes the grant to a claim that waits. The claim has a short time to take it. A
	 * withdrawal that awaits the end of the wait releases it.
	 * @return the lock that is kept for the claim, or {@code null} if it was withdrawn
	 */
	@Nullable KeptLock granted(AdvisoryConnection.Response response) {
		this.mutex.lock();
		try {
			if (this.state != AdvisoryState.WAITING) {
				return null;
			}
			this.token = response.token();
			this.state = AdvisoryState.KEPT;
			Duration keptFor = this.sessions.keptFor();
			this.sessions.executeAfter(keptFor, this::releaseUnlessTaken);
			return KeptLock.ofMicros(grant(), 0, this.rejectedAt, response.micros(),
					TimeUnit.NANOSECONDS.toMicros(keptFor.toNanos()));
		}
		finally {
			this.mutex.unlock();
		}
	}

	/** Processes the end of a wait without the lock. */
	void failed(Throwable cause) {
		this.mutex.lock();
		try {
			if (this.state != AdvisoryState.WAITING) {
				return;
			}
			connection().returnAfter(cause);
			end();
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void releaseUnlessTaken() {
		this.mutex.lock();
		try {
			if (this.state == AdvisoryState.KEPT) {
				release();
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Restarts the lease of a grant, which proves that the session has its lock.
	 * @return {@code false} if the lock is lost
	 */
	boolean extend(Grant grant) throws SQLException {
		this.mutex.lock();
		try {
			return isOf(grant) && extend();
		}
		finally {
			this.mutex.unlock();
		}
	}

	private boolean isOf(Grant grant) {
		return (this.state == AdvisoryState.HELD || this.state == AdvisoryState.KEPT)
				&& this.token == grant.storeToken();
	}

	private boolean extend() throws SQLException {
		AdvisoryConnection used = connection();
		try {
			boolean extended = used.extend();
			this.sessions.responded(true);
			if (extended) {
				this.state = AdvisoryState.HELD;
			}
			else {
				discard(null);
			}
			return extended;
		}
		catch (SQLException ex) {
			this.sessions.responded(false);
			if (used.isGone(ex)) {
				discard(ex);
				return false;
			}
			throw ex;
		}
	}

	/** Releases the lock of a grant. */
	ReleaseResult release(Grant grant) {
		this.mutex.lock();
		try {
			return isOf(grant) ? release() : new ReleaseResult.NotHeld();
		}
		finally {
			this.mutex.unlock();
		}
	}

	private ReleaseResult release() {
		ReleaseResult result = connection().release();
		end();
		this.sessions.responded(!(result instanceof ReleaseResult.Indeterminate));
		return result;
	}

	/**
	 * Withdraws the claim, and releases what it was granted. Does not wait for the pool
	 * on behalf of an attempt, which is withdrawn when it is answered.
	 */
	void abandon() {
		if (this.connection == null) {
			return;
		}
		AdvisoryWait stopped;
		do {
			stopped = this.wait;
			stopWaiting();
		}
		while (!withdraw(stopped));
	}

	/** Returns {@code false} if a wait has started that is not stopped yet. */
	private boolean withdraw(@Nullable AdvisoryWait stopped) {
		this.mutex.lock();
		try {
			if (this.state == AdvisoryState.WAITING && this.wait != stopped) {
				return false;
			}
			switch (this.state) {
				case WAITING -> discard(null);
				case KEPT, HELD -> release();
				case NEW, ENDED -> {
				}
			}
			return true;
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void stopWaiting() {
		AdvisoryWait present = this.wait;
		if (present != null) {
			present.stop(this.sessions.keptFor().toMillis());
		}
	}

	/** Ends the session at once, whichever thread uses it. */
	void close() {
		AdvisoryConnection present = this.connection;
		if (present != null) {
			present.abort();
		}
		this.mutex.lock();
		try {
			if (this.state != AdvisoryState.ENDED) {
				discard(null);
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void discard(@Nullable Throwable cause) {
		end();
		AdvisoryConnection present = this.connection;
		if (present != null) {
			present.discard(cause);
		}
	}

	private void end() {
		this.state = AdvisoryState.ENDED;
		this.sessions.ended(this.claim.owner(), this);
	}

}
