package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.GuardedLog;

/**
 * Whether a lease is lost: its cause, and the listeners to notify. A lease is lost once.
 * Thread-safe.
 */
abstract class LossState {

	private static final GuardedLog logger = GuardedLog.of(LossState.class);

	private static final String CHECK_PAUSES = " Check for pauses and the store's health at this time.";

	private final ResolvedRequest request;

	private final AcquisitionObserver observer;

	/** The listeners to notify. Guarded by this object; complete once it is lost. */
	private List<Listener> listeners = List.of();

	/**
	 * Held while the loss, or a tentative hold, is reported; present once a loss is
	 * declared. A monitor would pin a virtual thread whose observers wait. Set under the
	 * lock of this object.
	 */
	private @Nullable Lock reporting;

	/** Guarded by that lock. */
	private boolean reported;

	/** Set under the lock of this object, but any thread may read it. */
	private volatile @Nullable LockLostEvent event;

	LossState(ResolvedRequest request, AcquisitionObserver observer) {
		this.request = request;
		this.observer = observer;
	}

	abstract FencingToken token();

	abstract Grant grant();

	/** Returns why the last renewal failed, or {@code null} if none has. */
	abstract @Nullable Throwable renewalFailure();

	ResolvedRequest request() {
		return this.request;
	}

	String backendName() {
		return this.request.backend().name();
	}

	/** Returns the observer of the hold, which is notified of its loss, too. */
	AcquisitionObserver observer() {
		return this.observer;
	}

	boolean lost() {
		return this.event != null;
	}

	/** Reports a tentative hold unless it is lost; a loss is then reported later. */
	boolean keep() {
		Lock one = new ReentrantLock();
		one.lock();
		try {
			synchronized (this) {
				if (lost()) {
					return false;
				}
				this.reporting = one;
				this.observer.keep();
			}
			this.observer.kept(token());
			return true;
		}
		finally {
			one.unlock();
		}
	}

	/** Declares the loss. The caller holds the lease's lock. */
	void declare(LossCause cause) {
		if (this.reporting == null) {
			this.reporting = new ReentrantLock();
		}
		this.event = new LockLostEvent(this.request.lock(), backendName(), token(), cause);
	}

	/**
	 * Notifies the listeners and the observer of the declared loss, unless the lease was
	 * never reported. Call it once.
	 * @param threads runs the listeners
	 */
	void announce(Executor threads) {
		if (!this.observer.isReported()) {
			return;
		}
		LockLostEvent lost = Objects.requireNonNull(this.event);
		logger.warn(message(lost) + " Another owner may hold it now.");
		List<Listener> notified = this.listeners;
		// first: a listener may end the hold, whose outcome is then "lost"
		report(lost);
		threads.execute(() -> notified.forEach((listener) -> notify(listener.action(), lost)));
	}

	/** Notifies the observer of the declared loss, once; returns after that. */
	private void report(LockLostEvent lost) {
		Lock one = Objects.requireNonNull(this.reporting);
		one.lock();
		try {
			if (!this.reported) {
				this.reported = true;
				this.observer.lost(lost);
			}
		}
		finally {
			one.unlock();
		}
	}

	/**
	 * Notifies the observer of the end of the last hold, and first of a loss that is
	 * declared, perhaps at this moment by another thread. No loss of a hold is declared
	 * between its end and this call.
	 * @param lingers whether the lock is only kept closed from now on, so that a loss
	 * concerns no code
	 */
	void reportEnd(Duration held, Duration lease, boolean lingers) {
		LockLostEvent lost = this.event;
		if (lost != null && !lingers && this.observer.isReported()) {
			report(lost);
		}
		this.observer.released(held, lease);
	}

	/**
	 * Adds a listener, and notifies it immediately if the loss is already declared.
	 * @param owner the hold to which it belongs
	 */
	void onLost(Object owner, Consumer<LockLostEvent> listener) {
		LockLostEvent lost;
		synchronized (this) {
			lost = this.event;
			if (lost == null) {
				if (this.listeners.isEmpty()) {
					this.listeners = new ArrayList<>(1);
				}
				this.listeners.add(new Listener(owner, listener));
			}
		}
		if (lost != null) {
			notify(listener, lost);
		}
	}

	/** Removes the listeners of a hold that has ended before others of its lease. */
	void forget(Object owner) {
		synchronized (this) {
			if (this.event == null && !this.listeners.isEmpty()) {
				this.listeners.removeIf((listener) -> listener.owner() == owner);
			}
		}
	}

	private static void notify(Consumer<LockLostEvent> listener, LockLostEvent lost) {
		try {
			listener.accept(lost);
		}
		catch (Throwable ex) {
			Failures.keepInterrupt(ex);
			logger.error("A listener for the loss of lock '%s' failed".formatted(lost.lock()), ex);
		}
	}

	/** Returns a description of the loss, or {@code null} if there is none. */
	@Nullable String declaredLoss() {
		LockLostEvent lost = this.event;
		return (lost != null) ? message(lost) : null;
	}

	private String message(LockLostEvent lost) {
		String why = switch (lost.cause()) {
			case REFUSED -> "the store reports that this holder no longer owns the lease";
			case EXPIRED ->
				this.request.renew() ? "its validity expired before a renewal extended it" + renewalProblem()
						: "its lease expired and is not renewed";
			case REVOKED -> "the store revoked the lease";
			case MAX_HOLD -> "it was held for longer than its maxHold of " + maxHold();
			case SHUTDOWN -> "the application is stopping and its body did not complete in time";
			case FORCED -> "it was released by force";
		};
		return "Lock '%s' was lost: %s (%s, token %s, owner %s).".formatted(this.request.lock(), why, this.request,
				token(), grant().claim().owner());
	}

	/** Returns how to prevent another loss for the same cause. */
	String prevention() {
		LockLostEvent lost = this.event;
		return switch ((lost != null) ? lost.cause() : LossCause.EXPIRED) {
			case EXPIRED -> this.request.renew() ? CHECK_PAUSES : " Shorten the work, or increase 'leaseTime'.";
			case REFUSED, REVOKED -> CHECK_PAUSES;
			case MAX_HOLD -> " Shorten the work, or increase 'maxHold'.";
			case SHUTDOWN, FORCED -> "";
		};
	}

	private String renewalProblem() {
		Throwable failure = renewalFailure();
		if (failure == null) {
			return "";
		}
		// the cause of such an exception is the client's text, without a remedy
		String message = (failure instanceof LockException) ? String.valueOf(failure.getMessage())
				: Failures.rootMessage(failure);
		return "; the last one failed: " + Failures.withoutPeriod(message);
	}

	private String maxHold() {
		Duration maxHold = this.request.maxHold();
		return (maxHold != null) ? DurationText.of(maxHold) : "";
	}

	/**
	 * A listener.
	 *
	 * @param owner the hold to which it belongs
	 * @param action notified of the loss
	 */
	private record Listener(Object owner, Consumer<LockLostEvent> action) {

	}

}
