package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.spi.RenewalOutcome;

/**
 * Notifies observers and logs their exceptions instead of propagating them.
 */
public final class GuardedLockObserver implements LockObserver {

	private static final Log logger = LogFactory.getLog(GuardedLockObserver.class);

	private final List<LockObserver> ofLosses;

	private final List<LockObserver> ofEveryHold;

	private GuardedLockObserver(List<LockObserver> observers) {
		this.ofLosses = observers;
		this.ofEveryHold = observers.stream().filter(LockObserver::observesEveryHold).toList();
	}

	/**
	 * Combines observers into one. Without observers, notifications cost nothing.
	 * @param observers the observers
	 * @return an observer that notifies all of them and throws nothing
	 */
	public static LockObserver of(List<? extends LockObserver> observers) {
		return observers.isEmpty() ? LockObserver.NONE : new GuardedLockObserver(List.copyOf(observers));
	}

	@Override
	public void acquiring(LockName lock, String backend) {
		if (!this.ofEveryHold.isEmpty()) {
			tell(this.ofEveryHold, (observer) -> observer.acquiring(lock, backend));
		}
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		if (!this.ofEveryHold.isEmpty()) {
			tell(this.ofEveryHold, (observer) -> observer.acquired(lock, backend, outcome, waited, lease));
		}
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		if (!this.ofEveryHold.isEmpty()) {
			tell(this.ofEveryHold, (observer) -> observer.released(lock, backend, held, lease));
		}
	}

	@Override
	public void renewing(LockName lock, String backend, Duration late) {
		if (!this.ofEveryHold.isEmpty()) {
			tell(this.ofEveryHold, (observer) -> observer.renewing(lock, backend, late));
		}
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		if (!this.ofEveryHold.isEmpty()) {
			tell(this.ofEveryHold, (observer) -> observer.renewed(lock, backend, outcome));
		}
	}

	@Override
	public void commitRefused(LockName lock, String backend) {
		tell(this.ofLosses, (observer) -> observer.commitRefused(lock, backend));
	}

	@Override
	public void fencingRejected(LockName lock, String backend) {
		tell(this.ofLosses, (observer) -> observer.fencingRejected(lock, backend));
	}

	@Override
	public void lost(LockLostEvent event) {
		tell(this.ofLosses, (observer) -> observer.lost(event));
	}

	private static void tell(List<LockObserver> observers, Consumer<LockObserver> news) {
		for (LockObserver observer : observers) {
			try {
				news.accept(observer);
			}
			catch (RuntimeException | Error ex) {
				logger.error("A lock observer failed; the lock is not affected", ex);
			}
		}
	}

}
