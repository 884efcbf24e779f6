package io.holdfast.lock.fencing;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * Several holds of one request.
 *
 * @param parts the holds
 */
record SeveralHolds(List<LockHandle> parts) implements StillHeld {

	@Override
	public LockName lock() {
		return this.parts.get(0).lock();
	}

	@Override
	public String backend() {
		return this.parts.get(0).backend();
	}

	@Override
	public LockMode mode() {
		return this.parts.get(0).mode();
	}

	@Override
	public String ownerId() {
		return this.parts.get(0).ownerId();
	}

	@Override
	public FencingToken fencingToken() {
		throw new IllegalStateException("each part has its own");
	}

	@Override
	public Duration remainingValidity() {
		return this.parts.get(0).remainingValidity();
	}

}
