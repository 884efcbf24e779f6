package io.holdfast.lock.backend;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;

/**
 * An instance of an application whose leases may be sticky.
 *
 * @param backend the backend of its only store
 * @param engine its engine
 */
public record StickyInstance(LockBackend backend, LockEngine engine) {

	/** The lock that all cases use. */
	public static final LockName LOCK = LockName.of("stock", "42");

	/** Longer than any test. */
	public static final Duration LONG = Duration.ofHours(1);

	/**
	 * Creates an instance.
	 * @param backend the backend of its only store
	 * @param sticky how long its leases stay without a hold
	 * @return the instance
	 */
	public static StickyInstance of(LockBackend backend, Duration sticky) {
		return new StickyInstance(backend, new LockEngine(new LockBackends(List.of(backend), backend.name()),
				settings().sticky(sticky).build(), TransactionBoundary.NONE, List.of()));
	}

	/**
	 * Returns a request for the lock with a lease that lasts longer than any test.
	 * @param waitTime how long to wait
	 * @return the request
	 */
	public static LockRequest request(Duration waitTime) {
		return LockRequest.forLock(LOCK).waitTime(waitTime).leaseTime(LONG).build();
	}

	/**
	 * Acquires and releases the lock.
	 * @return the token of the hold
	 */
	public FencingToken token() {
		return this.engine.execute(request(Duration.ofSeconds(30)), LockHandle::fencingToken);
	}

	/**
	 * Returns an inspector of this instance.
	 * @return the inspector
	 */
	public EngineInspector inspector() {
		return new EngineInspector(this.engine, new LockBackends(List.of(this.backend), this.backend.name()),
				(event) -> {
				});
	}

}
