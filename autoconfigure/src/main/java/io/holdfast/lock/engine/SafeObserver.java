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
 * Tells several observers, and keeps what they throw away from the lock.
 */
final class SafeObserver implements LockObserver {

	private static final Log logger = LogFactory.getLog(SafeObserver.class);

	private final List<LockObserver> observers;

	private SafeObserver(List<LockObserver> observers) {
		this.observers = observers;
	}

	/**
	 * One observer for many; nobody to be told costs nothing.
	 */
	static LockObserver of(List<? extends LockObserver> observers) {
		return observers.isEmpty() ? LockObserver.NONE : new SafeObserver(List.copyOf(observers));
	}

	@Override
	public void acquiring(LockName lock, String backend) {
		tell((observer) -> observer.acquiring(lock, backend));
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		tell((observer) -> observer.acquired(lock, backend, outcome, waited, lease));
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		tell((observer) -> observer.released(lock, backend, held, lease));
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		tell((observer) -> observer.renewed(lock, backend, outcome));
	}

	@Override
	public void lost(LockLostEvent event) {
		tell((observer) -> observer.lost(event));
	}

	private void tell(Consumer<LockObserver> news) {
		for (LockObserver observer : this.observers) {
			try {
				news.accept(observer);
			}
			catch (RuntimeException ex) {
				logger.error("A lock observer failed; the lock is not affected", ex);
			}
		}
	}

}
