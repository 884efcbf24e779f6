package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.SchedulingClock;

/**
 * An engine for the simulation: the real engine on a given clock and given threads.
 */
public final class SimulatedEngine {

	private final LockEngine engine;

	/**
	 * Creates an engine.
	 * @param backend its only backend
	 * @param settings the settings of every lock
	 * @param observer the observer to notify
	 * @param clock the clock that the engine reads and schedules on
	 * @param steps runs work that must not run on its caller's thread
	 * @param threads creates an executor for each kind of work that may block
	 */
	public SimulatedEngine(LockBackend backend, EngineSettings settings, LockObserver observer, SchedulingClock clock,
			Executor steps, Supplier<Executor> threads) {
		this.engine = new LockEngine(new LockBackends(List.of(backend), backend.name()), settings,
				TransactionBoundary.NONE, observer, clock,
				new Workers(steps, threads.get(), threads.get(), threads.get(), steps), () -> {
				});
	}

	/**
	 * Returns the engine as its callers use it.
	 * @return the engine
	 */
	public LockOperations operations() {
		return this.engine;
	}

	/**
	 * Closes a hold as a caller that has waited for it on the current thread does, which
	 * may send the release itself.
	 * @param handle the hold, or several holds, which end like those of no thread
	 */
	public void close(LockHandle handle) {
		if (handle instanceof Hold hold) {
			hold.bind(0);
		}
		handle.close();
	}

	/**
	 * Whether a lease is valid, even if no body runs under it any longer.
	 * @param owner the owner id
	 * @return whether the lease is valid
	 */
	public boolean keeps(String owner) {
		return leases(owner).anyMatch(SimulatedEngine::isValid);
	}

	/**
	 * Whether a lock has a valid lease.
	 * @param lock the lock
	 * @return whether it has one
	 */
	public boolean hasValidLease(LockName lock) {
		return this.engine.context()
			.registry()
			.held()
			.stream()
			.anyMatch((lease) -> lease.request().lock().equals(lock) && isValid(lease));
	}

	private static boolean isValid(Lease lease) {
		return !lease.remainingValidity().equals(Duration.ZERO);
	}

	/**
	 * Returns the time at which the present holder of a lease acquired the lock, which is
	 * before its caller continues.
	 * @param owner the owner id
	 * @return the time on the clock of the process, or empty if there is no such lease
	 */
	public OptionalLong acquiredAt(String owner) {
		return leases(owner).mapToLong(Lease::acquiredAt).findFirst();
	}

	private Stream<Lease> leases(String owner) {
		return this.engine.context()
			.registry()
			.held()
			.stream()
			.filter((lease) -> lease.grant().claim().owner().value().equals(owner));
	}

	/**
	 * Describes the state that the engine still has when it should have none.
	 * @return a description of each part that is not empty
	 */
	public List<String> leftovers() {
		EngineContext context = this.engine.context();
		List<String> left = new ArrayList<>();
		add(left, "locks with a local wait queue", context.queues().size());
		add(left, "leases under renewal", context.watchdog().size());
		add(left, "leases", context.registry().held().size());
		add(left, "acquisitions", context.registry().waiting().size());
		return left;
	}

	private static void add(List<String> left, String what, int count) {
		if (count > 0) {
			left.add(what + ": " + count);
		}
	}

}
