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
 * Whether, and why, a lease was lost, and who wants to be told. A loss happens once: the
 * first cause stands. Thread-safe.
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
	 * Declare the loss. The caller holds the lease's lock.
	 * @return what tells the listeners, to be run outside of that lock
	 */
	Consumer<Consumer<LockLostEvent>> declare(LossCause cause) {
		LockLostEvent lost = new LockLostEvent(this.terms.lock(), this.terms.backend().name(), this.token, cause);
		this.event = lost;
		List<Consumer<LockLostEvent>> toTell = List.copyOf(this.listeners);
		this.listeners.clear();
		return (observer) -> {
			logger.warn(message(lost) + " Another may hold it now.");
			toTell.forEach((listener) -> tell(listener, lost));
			observer.accept(lost);
		};
	}

	/**
	 * Add a listener. The caller holds the lease's lock.
	 * @return what tells it at once because the loss has happened, to be run outside of
	 * that lock
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

	/** What was lost and why, or {@code null} if nothing was. */
	@Nullable String message() {
		LockLostEvent lost = this.event;
		return (lost != null) ? message(lost) : null;
	}

	private String message(LockLostEvent lost) {
		String why = switch (lost.cause()) {
			case REFUSED -> "the store says that the lease is no longer this holder's";
			case EXPIRED -> this.terms.renew() ? "its validity ran out before a renewal extended it"
					: "its lease ended and it is not renewed";
			case REVOKED -> "the store ended the lease by itself";
			case MAX_HOLD -> "it was held for longer than its maxHold of " + maxHold();
			case SHUTDOWN -> "the application stops and its body did not end in time";
		};
		return "Lock '%s' was lost: %s (%s, token %s).".formatted(this.terms.lock(), why, this.terms, this.token);
	}

	private String maxHold() {
		Duration maxHold = this.terms.maxHold();
		return (maxHold != null) ? DurationText.of(maxHold) : "";
	}

}
