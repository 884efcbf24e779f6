package io.holdfast.lock.autoconfigure;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.Threads;

/**
 * Checks at application startup whether a store can be used, and retries until the
 * startup timeout elapses. A store may start together with the application, and its first
 * response may be late on a busy machine.
 *
 * <p>
 * Attempts run on a dedicated thread. A store that accepts a connection and never
 * responds therefore fails the startup in time, however long its client or connection
 * pool waits. The first attempt also loads the classes of the client, which takes many
 * seconds on a busy machine. Only a tenth of that time counts. Only a
 * {@link LockBackendException} is retried. An attempt throws a configuration exception
 * for an error that a retry would not fix.
 */
final class StartupCheck {

	private static final Log logger = LogFactory.getLog(StartupCheck.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	/**
	 * The minimum time for the first attempt, however short the timeout, because its
	 * failure explains the cause.
	 */
	private static final Duration FIRST_ATTEMPT = Duration.ofSeconds(3);

	/** The interval of checks for class loading. */
	private static final Duration TICK = Duration.ofMillis(250);

	private static final int LOADING_COUNTS_ONE_IN = 10;

	private final String store;

	private final Duration timeout;

	private final List<String> remedies;

	private final LongSupplier loadedClasses;

	/**
	 * Creates a check.
	 * @param store the store and its location, as messages name it
	 * @param timeout how long to retry
	 * @param loadedClasses the number of classes that this JVM has loaded so far
	 * @param remedies the remedies if the store is unavailable, each a sentence
	 */
	StartupCheck(String store, Duration timeout, LongSupplier loadedClasses, List<String> remedies) {
		this.store = store;
		this.timeout = timeout;
		this.loadedClasses = loadedClasses;
		this.remedies = List.copyOf(remedies);
	}

	/**
	 * Creates a check that counts only a tenth of the time in which this JVM loads
	 * classes.
	 */
	static StartupCheck of(String store, Duration timeout, List<String> remedies) {
		return new StartupCheck(store, timeout, ManagementFactory.getClassLoadingMXBean()::getTotalLoadedClassCount,
				remedies);
	}

	/**
	 * Runs attempts until one succeeds.
	 * @param attempt one attempt, which is interrupted at the timeout and may continue
	 * for a while after that
	 * @param close releases the store's client if the check fails
	 * @throws StoreUnavailableException if no attempt succeeds in time
	 */
	void run(Runnable attempt, Runnable close) {
		try {
			await(new Attempts(attempt, true));
		}
		catch (LockBackendException ex) {
			close.run();
			throw unavailable(ex);
		}
		catch (RuntimeException | Error ex) {
			close.run();
			throw ex;
		}
	}

	/**
	 * Runs one attempt for a store that the application may start without, and logs a
	 * failure at WARN.
	 * @param attempt the attempt, which is interrupted at the timeout and may continue
	 * for a while after that
	 * @param close releases the store's client if the attempt fails the startup
	 */
	void runOnce(Runnable attempt, Runnable close) {
		try {
			attempt(attempt);
		}
		catch (LockBackendException ex) {
			logger.warn("The application starts without %s, whose locks fail until it is available: %s"
				.formatted(this.store, ex.getMessage()));
		}
		catch (RuntimeException | Error ex) {
			close.run();
			throw ex;
		}
	}

	/**
	 * Runs one attempt.
	 * @param attempt the attempt, which is interrupted at the timeout and may continue
	 * for a while after that
	 * @throws LockBackendException if the attempt throws one or does not complete in time
	 */
	void attempt(Runnable attempt) {
		await(new Attempts(attempt, false));
	}

	private void await(Attempts attempts) {
		FutureTask<@Nullable Void> task = new FutureTask<>(attempts, null);
		Threads.daemon("holdfast-startup", task).start();
		try {
			long counted = 0;
			while (counted < this.timeout.toNanos()
					|| (attempts.failure == null && counted < FIRST_ATTEMPT.toNanos())) {
				long loaded = this.loadedClasses.getAsLong();
				long start = System.nanoTime();
				if (isDone(task)) {
					return;
				}
				long elapsed = System.nanoTime() - start;
				counted += (this.loadedClasses.getAsLong() > loaded) ? elapsed / LOADING_COUNTS_ONE_IN : elapsed;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		attempts.over = true;
		task.cancel(true);
		LockBackendException failure = attempts.failure;
		throw (failure != null) ? failure : new LockBackendException("it did not respond");
	}

	private static boolean isDone(FutureTask<?> task) throws InterruptedException {
		try {
			task.get(TICK.toMillis(), TimeUnit.MILLISECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (RuntimeException) ex.getCause();
		}
	}

	private StoreUnavailableException unavailable(LockBackendException failure) {
		return new StoreUnavailableException(
				"Locks are kept in %s, which could not be used within %s: %s.".formatted(this.store,
						DurationText.of(this.timeout), Failures.withoutPeriod(String.valueOf(failure.getMessage()))),
				this.remedies, failure);
	}

	/**
	 * Runs the attempt, either once or repeatedly until it succeeds.
	 */
	private final class Attempts implements Runnable {

		private final Runnable attempt;

		private final boolean repeated;

		private volatile @Nullable LockBackendException failure;

		private volatile boolean over;

		Attempts(Runnable attempt, boolean repeated) {
			this.attempt = attempt;
			this.repeated = repeated;
		}

		@Override
		public void run() {
			long pause = FIRST_PAUSE.toNanos();
			for (LockBackendException failed = once(); failed != null; failed = once()) {
				this.failure = failed;
				if (!this.repeated) {
					throw failed;
				}
				try {
					TimeUnit.NANOSECONDS.sleep(pause);
				}
				catch (InterruptedException ex) {
					throw failed;
				}
				pause = Math.min(2 * pause, LONGEST_PAUSE.toNanos());
			}
		}

		/** Returns the failure of one attempt, or {@code null} if it succeeds. */
		private @Nullable LockBackendException once() {
			try {
				this.attempt.run();
				return null;
			}
			catch (LockBackendException ex) {
				if (this.repeated && this.failure == null && !this.over) {
					logger.info("%s cannot be used yet. Retrying for up to %s: %s".formatted(StartupCheck.this.store,
							DurationText.of(StartupCheck.this.timeout), ex.getMessage()));
				}
				return ex;
			}
		}

	}

}
