package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Notifies the observers of one acquisition: when it starts, and once when it ends. Then
 * notifies them of the hold that it has led to. An acquisition that is cancelled before
 * it starts is not reported.
 *
 * <p>
 * A tentative acquisition, and its hold, are not reported until the hold is kept: no code
 * uses the lock before, and the engine may release it again.
 */
final class AcquisitionObserver {

	private final LockObserver observer;

	private final WaitTime wait;

	private final ResolvedRequest request;

	private final boolean tentative;

	private final LockObservation observation;

	private volatile boolean reported;

	private AcquireOutcome granted = AcquireOutcome.ACQUIRED;

	private Duration waited = Duration.ZERO;

	private @Nullable FencingToken token;

	AcquisitionObserver(LockObserver observer, WaitTime wait, ResolvedRequest request, IfRefused ifRefused) {
		this.observer = observer;
		this.wait = wait;
		this.request = request;
		this.tentative = ifRefused == IfRefused.TRY_LATER;
		this.observation = observer.observe(request.lock(), request.backend().name());
	}

	void started() {
		if (!this.tentative) {
			report();
		}
	}

	void granted(boolean afterWaiting, long at) {
		this.granted = afterWaiting ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED;
		this.waited = Duration.ofNanos(at - this.wait.startedAt);
		if (this.reported) {
			ended(this.granted);
		}
	}

	/** Follows the hold, too, from now on. */
	void holds(FencingToken token) {
		this.token = token;
		if (this.reported) {
			this.observation.granted(this.granted, this.waited, token);
		}
	}

	/**
	 * Reports the hold of a tentative acquisition. Call it once.
	 * @return {@code true}
	 */
	boolean keep() {
		report();
		ended(this.granted);
		this.observation.granted(this.granted, this.waited, Objects.requireNonNull(this.token));
		return true;
	}

	/** Returns whether the acquisition is reported. */
	boolean isReported() {
		return this.reported;
	}

	void notGranted(AcquireOutcome how) {
		if (this.reported) {
			this.waited = Duration.ofNanos(this.wait.elapsed());
			ended(how);
			this.observation.notGranted(how, this.waited);
		}
	}

	LockObservation.Scope openScope() {
		return this.observation.openScope();
	}

	void lost(LockLostEvent event) {
		this.observation.lost(event.cause());
		this.observer.lost(event);
	}

	void released(Duration held, Duration lease) {
		if (this.reported) {
			this.observer.released(this.request.lock(), this.request.backend().name(), held, lease);
			this.observation.released(held);
		}
	}

	private void report() {
		this.reported = true;
		this.observation.started();
		this.observer.acquiring(this.request.lock(), this.request.backend().name());
	}

	private void ended(AcquireOutcome how) {
		this.observer.acquired(this.request.lock(), this.request.backend().name(), how, this.waited,
				this.request.leaseTime());
	}

	/**
	 * The reaction of a caller if another holder keeps the lock.
	 */
	enum IfRefused {

		/** The caller fails. */
		FAIL(AcquireOutcome.TIMEOUT),

		/** The caller continues without the lock. */
		SKIP(AcquireOutcome.SKIPPED),

		/** The caller does not wait now but tries later; observers are not notified. */
		TRY_LATER(AcquireOutcome.SKIPPED);

		private final AcquireOutcome outcome;

		IfRefused(AcquireOutcome outcome) {
			this.outcome = outcome;
		}

		/** Returns the outcome of a refusal for observers. */
		AcquireOutcome outcome() {
			return this.outcome;
		}

	}

}
