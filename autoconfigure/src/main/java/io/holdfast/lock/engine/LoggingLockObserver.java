package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Locale;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.spi.observation.RenewalOutcome;
import io.holdfast.lock.support.DurationText;

/**
 * Logs the events of each lock at DEBUG, from the request to the end of the hold. An
 * operator can follow one lock by its name.
 */
final class LoggingLockObserver implements LockObserver {

	/** Named after the public entry point, so that the level is easy to configure. */
	private static final Log logger = LogFactory.getLog(LockEngine.class);

	@Override
	public void acquiring(LockName lock, String backend) {
		log(lock, backend, "is requested");
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		if (logger.isDebugEnabled()) {
			String after = " after " + DurationText.of(waited);
			log(lock, backend, switch (outcome) {
				case ACQUIRED -> "is acquired" + after + ", lease " + DurationText.of(lease);
				case CONTENDED ->
					"is acquired" + after + " of waiting for another holder, lease " + DurationText.of(lease);
				case TIMEOUT -> "is not acquired: timed out" + after;
				case SKIPPED -> "is not acquired: skipped" + after;
				case INTERRUPTED -> "is not acquired: interrupted or cancelled" + after;
				case ERROR -> "is not acquired: failed" + after;
			});
		}
	}

	/** Follows the acquisition only at DEBUG, for the token of its hold. */
	@Override
	public LockObservation observe(LockName lock, String backend) {
		return logger.isDebugEnabled() ? new LockObservation() {

			@Override
			public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
				log(lock, backend, "has token " + token);
			}

		} : LockObservation.NONE;
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		if (logger.isDebugEnabled()) {
			log(lock, backend, "is released after " + DurationText.of(held));
		}
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		if (logger.isDebugEnabled()) {
			log(lock, backend, "renewal: " + outcome.name().toLowerCase(Locale.ROOT));
		}
	}

	@Override
	public void commitRefused(LockName lock, String backend) {
		log(lock, backend, "is lost or in doubt: a commit is refused");
	}

	private static void log(LockName lock, String backend, String what) {
		if (logger.isDebugEnabled()) {
			logger.debug("Lock '%s' (backend %s) %s".formatted(lock, backend, what));
		}
	}

}
