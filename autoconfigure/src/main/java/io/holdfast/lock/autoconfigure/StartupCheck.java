package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.support.DurationText;

/**
 * Checks at the start of the application whether a store can be used, and retries until
 * the startup timeout has elapsed: a store may start together with the application, and
 * its first answer may be late on a busy machine.
 *
 * <p>
 * The timeout counts from the end of the first attempt, which also loads the classes of
 * the store's client. An attempt that alone takes longer than the timeout, such as the
 * wait for a connection pool, is not repeated. Only a {@link LockBackendException} is
 * retried; an attempt throws a configuration exception for what another attempt would not
 * change.
 */
final class StartupCheck {

	private static final Log logger = LogFactory.getLog(StartupCheck.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	private final String store;

	private final boolean required;

	private final Duration timeout;

	private final List<String> remedies;

	/**
	 * Create a check.
	 * @param store the store and where it is, as messages name it
	 * @param required whether the application may not start without the store
	 * @param timeout how long to retry
	 * @param remedies what helps if this store is unavailable, each a sentence
	 */
	StartupCheck(String store, boolean required, Duration timeout, String... remedies) {
		this.store = store;
		this.required = required;
		this.timeout = timeout;
		this.remedies = new ArrayList<>(List.of(remedies));
		this.remedies.add("Increase 'distributed-lock.startup-timeout' if it needs longer to start.");
		this.remedies
			.add("Set 'distributed-lock.fail-fast=false' to start without it; locks fail until it is available.");
	}

	/**
	 * Create a check for a store that the application must not start without, if it is
	 * meant to keep locks.
	 */
	static StartupCheck of(LockStore store, String where, Environment environment, DistributedLockProperties locks,
			String... remedies) {
		return new StartupCheck(where, locks.failFast() && store.isMeant(environment), locks.startupTimeout(),
				remedies);
	}

	/**
	 * Runs attempts until one succeeds, unless the application may start without its
	 * store.
	 * @param attempt one attempt, which limits its own duration
	 * @param close releases the store's client when the check fails
	 * @throws StoreUnavailableException if none has succeeded in time
	 */
	void run(Runnable attempt, Runnable close) {
		if (!this.required) {
			return;
		}
		try {
			retry(attempt);
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

	private void retry(Runnable attempt) {
		Attempt last = Attempt.of(attempt);
		long start = System.nanoTime();
		if (last.failure() != null) {
			logger.info("%s cannot be used yet, and is retried for up to %s: %s".formatted(this.store,
					text(this.timeout), last.failure().getMessage()));
		}
		Duration pause = FIRST_PAUSE;
		while (last.failure() != null) {
			Duration left = this.timeout.minusNanos(System.nanoTime() - start);
			if (last.took().compareTo(this.timeout) > 0 || left.isNegative() || !pause(min(pause, left))) {
				throw last.failure();
			}
			pause = min(pause.multipliedBy(2), LONGEST_PAUSE);
			last = Attempt.of(attempt);
		}
	}

	/** Returns whether the thread may go on. */
	private static boolean pause(Duration duration) {
		try {
			TimeUnit.NANOSECONDS.sleep(duration.toNanos());
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private StoreUnavailableException unavailable(LockBackendException failure) {
		String message = String.valueOf(failure.getMessage());
		return new StoreUnavailableException("Locks are kept in %s, which could not be used within %s: %s%s".formatted(
				this.store, text(this.timeout), message, message.endsWith(".") ? "" : "."), this.remedies, failure);
	}

	private static String text(Duration duration) {
		return DurationText.of(duration);
	}

	private static Duration min(Duration a, Duration b) {
		return (a.compareTo(b) < 0) ? a : b;
	}

	/**
	 * An attempt that has ended.
	 *
	 * @param failure why it failed, or {@code null}
	 * @param took how long it took
	 */
	private record Attempt(@Nullable LockBackendException failure, Duration took) {

		static Attempt of(Runnable attempt) {
			long start = System.nanoTime();
			LockBackendException failure = null;
			try {
				attempt.run();
			}
			catch (LockBackendException ex) {
				failure = ex;
			}
			return new Attempt(failure, Duration.ofNanos(System.nanoTime() - start));
		}

	}

}
