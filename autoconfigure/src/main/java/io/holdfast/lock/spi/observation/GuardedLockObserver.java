package io.holdfast.lock.spi.observation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.GuardedLog;

/**
 * Notifies observers and logs their exceptions instead of propagating them, even checked
 * ones, which Kotlin throws undeclared. The events of every hold are passed on in plain
 * loops: a function object for each of them costs more than an observer that ignores the
 * event.
 */
final class GuardedLockObserver implements LockObserver {

	private static final GuardedLog logger = GuardedLog.of(GuardedLockObserver.class);

	private final LockObserver[] observers;

	GuardedLockObserver(List<? extends LockObserver> observers) {
		this.observers = observers.toArray(LockObserver[]::new);
	}

	@Override
	public LockObservation observe(LockName lock, String backend) {
		List<LockObservation> following = List.of();
		for (LockObserver observer : this.observers) {
			try {
				LockObservation observation = observer.observe(lock, backend);
				if (observation != LockObservation.NONE) {
					following = following.isEmpty() ? new ArrayList<>(this.observers.length) : following;
					following.add(observation);
				}
			}
			catch (Throwable ex) {
				failed(ex);
			}
		}
		return following.isEmpty() ? LockObservation.NONE : new GuardedLockObservation(following);
	}

	@Override
	public void acquiring(LockName lock, String backend) {
		for (LockObserver observer : this.observers) {
			try {
				observer.acquiring(lock, backend);
			}
			catch (Throwable ex) {
				failed(ex);
			}
		}
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		for (LockObserver observer : this.observers) {
			try {
				observer.acquired(lock, backend, outcome, waited, lease);
			}
			catch (Throwable ex) {
				failed(ex);
			}
		}
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		for (LockObserver observer : this.observers) {
			try {
				observer.released(lock, backend, held, lease);
			}
			catch (Throwable ex) {
				failed(ex);
			}
		}
	}

	@Override
	public void handedOff(LockName lock, String backend) {
		notifyEach((observer) -> observer.handedOff(lock, backend));
	}

	@Override
	public void renewing(LockName lock, String backend, Duration late) {
		notifyEach((observer) -> observer.renewing(lock, backend, late));
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		notifyEach((observer) -> observer.renewed(lock, backend, outcome));
	}

	@Override
	public void commitRefused(LockName lock, String backend) {
		notifyEach((observer) -> observer.commitRefused(lock, backend));
	}

	@Override
	public void fencingRejected(LockName lock, String backend) {
		notifyEach((observer) -> observer.fencingRejected(lock, backend));
	}

	@Override
	public void lost(LockLostEvent event) {
		notifyEach((observer) -> observer.lost(event));
	}

	private void notifyEach(Consumer<LockObserver> notification) {
		for (LockObserver observer : this.observers) {
			guard(() -> notification.accept(observer));
		}
	}

	/** Runs code of an observer. */
	static void guard(Runnable call) {
		try {
			call.run();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private static void failed(Throwable failure) {
		Failures.keepInterrupt(failure);
		logger.error("A lock observer failed; the lock is not affected", failure);
	}

}
