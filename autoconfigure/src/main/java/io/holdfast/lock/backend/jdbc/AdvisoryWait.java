package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.support.GuardedLog;

/**
 * The wait of one claim for its lock: a statement that the server answers when it grants
 * the lock. It runs on a thread of its own, because it may take as long as the claim
 * waits.
 */
final class AdvisoryWait implements Runnable {

	private static final GuardedLog logger = GuardedLog.of(AdvisoryWait.class);

	/** A cancellation may miss the start of the statement, so it is repeated. */
	private static final long CANCEL_INTERVAL_MILLIS = 20;

	private final AdvisorySession session;

	private final AdvisoryConnection connection;

	private final Duration time;

	/** Completes when the statement has ended and the session has processed that. */
	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	private final CompletableFuture<@Nullable KeptLock> signal = new CompletableFuture<>();

	private volatile @Nullable Statement statement;

	private volatile boolean stopped;

	/** Completes when the latest cancellation was sent. */
	private volatile CompletableFuture<Void> canceling = CompletableFuture.completedFuture(null);

	AdvisoryWait(AdvisorySession session, AdvisoryConnection connection, Duration time) {
		this.session = session;
		this.connection = connection;
		this.time = time;
	}

	/**
	 * Returns the signal of the attempt that was rejected before this wait. It completes
	 * with the lock if the server has granted it.
	 */
	CompletionStage<@Nullable KeptLock> signal() {
		return this.signal.minimalCompletionStage();
	}

	/** Returns the signal of a later attempt, which cannot tell the age of the grant. */
	CompletionStage<?> laterSignal() {
		return this.signal.thenAccept((kept) -> {
		}).minimalCompletionStage();
	}

	@Override
	public void run() {
		KeptLock kept = null;
		boolean failed = false;
		try {
			kept = this.session.granted(this.connection.awaitLock(this.time, this::started));
		}
		catch (SQLException | RuntimeException | Error ex) {
			logger.debug("A wait for an advisory lock has ended without the lock", ex);
			this.session.failed(ex);
			failed = true;
		}
		finally {
			this.ended.complete(null);
		}
		if (failed) {
			// not at once, because the next wait may fail as fast
			this.session.sessions.executeAfter(AdvisorySessions.POLL, () -> this.signal.complete(null));
		}
		else {
			this.signal.complete(kept);
		}
	}

	private void started(Statement statement) {
		this.statement = statement;
		if (this.stopped) {
			throw new CancellationException("The claim was withdrawn");
		}
	}

	/**
	 * Cancels the statement and awaits its end. If it does not end in time, closes the
	 * connection, which ends the statement and releases the lock.
	 */
	void stop(long timeoutMillis) {
		if (this.ended.isDone()) {
			return;
		}
		this.stopped = true;
		long deadline = this.session.sessions.nanos() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
		do {
			cancel();
			if (hasEnded()) {
				return;
			}
		}
		while (this.session.sessions.nanos() < deadline);
		this.connection.abort();
	}

	/**
	 * Cancels the statement on another thread: the driver opens a connection for it,
	 * which may take long.
	 */
	private void cancel() {
		if (this.canceling.isDone()) {
			CompletableFuture<Void> done = new CompletableFuture<>();
			this.canceling = done;
			this.session.sessions.execute(() -> {
				cancelNow();
				done.complete(null);
			});
		}
	}

	private void cancelNow() {
		Statement running = this.statement;
		try {
			if (running != null) {
				running.cancel();
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A wait for an advisory lock could not be canceled", ex);
		}
	}

	private boolean hasEnded() {
		try {
			this.ended.get(CANCEL_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			// without waiting, only the end of the session is certain
			this.connection.abort();
			return true;
		}
	}

}
