package io.holdfast.lock.engine;

import java.time.Duration;

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

	private final LocalWaitQueues.Ticket ticket;

	private final LockObservation observation;

	private volatile boolean reported;

	private AcquireOutcome granted = AcquireOutcome.ACQUIRED;

	private long waited;

	AcquisitionObserver(LockObserver observer, LocalWaitQueues.Ticket ticket) {
		this.observer = observer;
		this.ticket = ticket;
		this.observation = observer.observe(ticket.request.lock(), ticket.request.backend().name());
	}

	void started(IfRefused ifRefused) {
		if (ifRefused != IfRefused.TRY_LATER) {
			report();
		}
	}

	void granted(boolean afterWaiting, long at) {
		this.granted = afterWaiting ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED;
		this.waited = at - this.ticket.startedAt;
		if (isReported()) {
			ended(this.granted);
		}
	}

	/** Follows the hold, too, from now on. */
	void holds(FencingToken token) {
		if (isReported()) {
			this.observation.granted(this.granted, Duration.ofNanos(this.waited), token);
		}
	}

	/** Lets a tentative acquisition be reported from now on. {@link #kept} follows. */
	void keep() {
		this.reported = true;
	}

	/** Reports the hold of a tentative acquisition. Call it once. */
	void kept(FencingToken token) {
		report();
		ended(this.granted);
		holds(token);
	}

	/** Returns whether the acquisition is reported. */
	boolean isReported() {
		return this.reported;
	}

	void notGranted(AcquireOutcome how) {
		if (isReported()) {
			this.waited = this.ticket.elapsed();
			ended(how);
			this.observation.notGranted(how, Duration.ofNanos(this.waited));
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
		if (isReported()) {
			this.observer.released(this.ticket.request.lock(), this.ticket.request.backend().name(), held, lease);
			this.observation.released(held);
		}
	}

	private void report() {
		this.reported = true;
		this.observation.started();
		this.observer.acquiring(this.ticket.request.lock(), this.ticket.request.backend().name());
	}

	private void ended(AcquireOutcome how) {
		ResolvedRequest request = this.ticket.request;
		this.observer.acquired(request.lock(), request.backend().name(), how, Duration.ofNanos(this.waited),
				request.leaseTime());
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
