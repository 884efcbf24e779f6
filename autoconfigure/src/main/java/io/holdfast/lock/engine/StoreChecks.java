package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.holdfast.lock.LockException;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Checks the stores of an engine for health checks, each in bounded time. Thread-safe.
 */
public final class StoreChecks {

	private final LockBackends backends;

	/** Its thread never starts, because nothing is scheduled. */
	private final SchedulingClock time = new SystemSchedulingClock("holdfast-checks-timer");

	private final StoreQueries queries = new StoreQueries();

	/**
	 * Creates the checks.
	 * @param backends the backends of the engine
	 */
	public StoreChecks(LockBackends backends) {
		this.backends = backends;
	}

	/**
	 * Returns the backends in use: the default one, and all others that an annotation or
	 * a request has named so far.
	 * @return the names, the default one first
	 */
	public Set<String> backends() {
		return this.backends.inUse();
	}

	/**
	 * Checks the store of a backend.
	 * @param backend the name of the backend
	 * @param timeout the longest wait for its response
	 * @return the result
	 * @throws LockException if the store does not respond in time or reports an error
	 */
	public Result check(String backend, Duration timeout) {
		LockBackend asked = this.backends.get(backend);
		long start = this.time.nanos();
		// less time than the check itself has, so that a report about silent servers
		// arrives
		Duration response = timeout.multipliedBy(9).dividedBy(10);
		StoreStatus status = this.queries.ask(asked, timeout, () -> asked.status(response));
		return new Result(status.state(), Duration.ofNanos(this.time.nanos() - start), status.details());
	}

	/**
	 * The result of a check.
	 *
	 * @param state whether the store can grant locks
	 * @param latency the time until the store had responded
	 * @param details what the backend reports in addition
	 */
	public record Result(StoreStatus.State state, Duration latency, Map<String, Object> details) {

	}

}
