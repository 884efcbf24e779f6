package io.holdfast.lock.observation;

import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockName;

/**
 * Context of the observation of an acquisition or a hold: the lock, the backend, and the
 * outcome and the fencing token as soon as they are known.
 */
public final class LockObservationContext extends Observation.Context {

	private final LockObservationDocumentation observed;

	private final LockName lock;

	private final String backend;

	private @Nullable String outcome;

	private @Nullable FencingToken token;

	LockObservationContext(LockObservationDocumentation observed, LockName lock, String backend) {
		this.observed = observed;
		this.lock = lock;
		this.backend = backend;
	}

	/**
	 * Returns the kind of the observation.
	 * @return the acquisition or the hold
	 */
	public LockObservationDocumentation observed() {
		return this.observed;
	}

	/**
	 * Returns the lock.
	 * @return the lock
	 */
	public LockName lock() {
		return this.lock;
	}

	/**
	 * Returns the name of the backend.
	 * @return the name, such as {@code redis}
	 */
	public String backend() {
		return this.backend;
	}

	/**
	 * Returns how the acquisition or the hold ended.
	 * @return an outcome of an acquisition, such as {@code contended}, or
	 * {@code released} or {@code lost}; {@code null} before the end
	 */
	public @Nullable String outcome() {
		return this.outcome;
	}

	/**
	 * Returns the fencing token of the hold.
	 * @return the token, or {@code null} if the lock is not granted
	 */
	public @Nullable FencingToken token() {
		return this.token;
	}

	void outcome(String outcome) {
		this.outcome = outcome;
	}

	void token(FencingToken token) {
		this.token = token;
	}

}
