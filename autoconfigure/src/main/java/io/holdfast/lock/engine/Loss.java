package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.support.DurationText;

/**
 * State of the loss of a lease: whether and why it was lost, and which listeners to
 * notify. A lease is lost once, and only the first cause counts. Thread-safe.
 */
final class Loss {

	private static final Log logger = LogFactory.getLog(Loss.class);

	private final ResolvedRequest terms;

	private final FencingToken token;

	private final List<Consumer<LockLostEvent>> listeners = new ArrayList<>(0);

	private volatile @Nullable LockLostEvent event;

	Loss(ResolvedRequest terms, FencingToken token) {
		this.terms = terms;
		this.token = token;
	}

	boolean happened() {
		return this.event != null;
	}

	/**
	 * Declares the loss. The caller holds the lease's lock.
	 * @return notifies the listeners; to be run outside of that lock
	 */
	Consumer<Consumer<LockLostEvent>> declare(LossCause cause) {
		LockLostEvent lost = new LockLostEvent(this.terms.lock(), this.terms.backend().name(), this.token, cause);
		this.event = lost;
		List<Consumer<LockLostEvent>> toTell = List.copyOf(this.listeners);
		this.listeners.clear();
		return (observer) -> {
			logger.warn(message(lost) + " Another owner may hold it now.");
			toTell.forEach((listener) -> tell(listener, lost));
			observer.accept(lost);
		};
	}

	/**
	 * Adds a listener. The caller holds the lease's lock.
	 * @return notifies the listener immediately if the loss has already happened; to be
	 * run outside of that lock
	 */
	Runnable add(Consumer<LockLostEvent> listener) {
		LockLostEvent lost = this.event;
		if (lost != null) {
			return () -> tell(listener, lost);
		}
		this.listeners.add(listener);
		return () -> {
		};
	}

	private static void tell(Consumer<LockLostEvent> listener, LockLostEvent lost) {
		try {
			listener.accept(lost);
		}
		catch (RuntimeException | Error ex) {
			logger.error("A listener for the loss of lock '%s' failed".formatted(lost.lock()), ex);
		}
	}

	/** Returns a description of the loss, or {@code null} if there is none. */
	@Nullable String message() {
		LockLostEvent lost = this.event;
		return (lost != null) ? message(lost) : null;
	}

	private String message(LockLostEvent lost) {
		String why = switch (lost.cause()) {
			case REFUSED -> "the store reports that this holder no longer owns the lease";
			case EXPIRED -> this.terms.renew() ? "its validity expired before a renewal extended it"
					: "its lease expired and is not renewed";
			case REVOKED -> "the store revoked the lease";
			case MAX_HOLD -> "it was held for longer than its maxHold of " + maxHold();
			case SHUTDOWN -> "the application is stopping and its body did not complete in time";
		};
		return "Lock '%s' was lost: %s (%s, token %s).".formatted(this.terms.lock(), why, this.terms, this.token);
	}

	private String maxHold() {
		Duration maxHold = this.terms.maxHold();
		return (maxHold != null) ? DurationText.of(maxHold) : "";
	}

}
