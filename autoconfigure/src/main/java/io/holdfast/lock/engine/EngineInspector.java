package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.WaitingAcquisition;
import io.holdfast.lock.spi.LockBackend;

/**
 * Reads the state of an engine and of its stores. Costs the engine nothing: it reads what
 * the engine keeps anyway. Thread-safe.
 */
public final class EngineInspector implements LockInspector {

	private final EngineContext context;

	private final LockBackends backends;

	private final StoreQueries queries = new StoreQueries();

	private final ForcedReleases forcedReleases;

	/**
	 * Creates an inspector.
	 * @param engine the engine
	 * @param backends the backends of the engine
	 * @param onForceRelease notified of each lock that is released by force
	 */
	public EngineInspector(LockEngine engine, LockBackends backends, Consumer<LockForceReleasedEvent> onForceRelease) {
		this.context = engine.context();
		this.backends = backends;
		this.forcedReleases = new ForcedReleases(this.context, this.queries, onForceRelease);
	}

	@Override
	public List<HeldLock> held() {
		Map<LockAtBackend, Integer> waiters = new HashMap<>();
		this.context.registry()
			.waiting()
			.forEach((acquisition) -> waiters.merge(LockAtBackend.of(acquisition.request), 1, Integer::sum));
		long now = this.context.time().nanos();
		return this.context.registry()
			.held()
			.stream()
			.map((lease) -> describe(lease, now, waiters.getOrDefault(LockAtBackend.of(lease.request()), 0)))
			.sorted(Comparator.comparing(HeldLock::lock).thenComparing(HeldLock::backend))
			.toList();
	}

	private static HeldLock describe(Lease lease, long now, int waiters) {
		ResolvedRequest request = lease.request();
		return new HeldLock(request.lock(), lease.backendName(), request.mode(), request.fair(), lease.token(),
				lease.grant().claim().owner().value(), nameOf(thread(lease)),
				Duration.ofNanos(Math.max(0, now - lease.acquiredAt())), lease.remainingValidity(),
				lease.inUse() && lease.isReported(), waiters);
	}

	private static @Nullable Thread thread(Lease lease) {
		LockContext.Binding binding = lease.store.binding;
		return (binding != null) ? binding.threadIfAny(HeldLocks.of(lease)) : null;
	}

	private static @Nullable String nameOf(@Nullable Thread thread) {
		return (thread != null) ? thread.getName() : null;
	}

	@Override
	public List<WaitingAcquisition> waiting() {
		return this.context.registry()
			.waiting()
			.stream()
			.map(EngineInspector::describe)
			.sorted(Comparator.comparing(WaitingAcquisition::lock)
				.thenComparing(Comparator.comparing(WaitingAcquisition::waitedFor).reversed()))
			.toList();
	}

	private static WaitingAcquisition describe(Acquisition acquisition) {
		ResolvedRequest request = acquisition.request;
		return new WaitingAcquisition(request.lock(), request.backend().name(), request.mode(), request.fair(),
				nameOf(acquisition.caller()), Duration.ofNanos(acquisition.elapsed()), acquisition.remaining());
	}

	@Override
	public LockState find(LockName lock, @Nullable String backend) {
		LockBackend asked = this.backends.get(backend);
		try {
			return this.queries.ask(asked, this.context.settings().responseTimeout(), () -> asked.find(lock));
		}
		catch (LockBackendException ex) {
			throw (ex.lock() != null) ? ex : about(lock, asked, ex);
		}
	}

	/**
	 * A backend may not know that its failure, such as of a connection, is about a lock.
	 */
	private static LockBackendException about(LockName lock, LockBackend asked, LockBackendException failure) {
		String message = String.valueOf(failure.getMessage());
		return new LockBackendException(lock, asked.name(),
				message.startsWith("Lock '%s'".formatted(lock)) ? message
						: "Lock '%s' (backend %s) could not be looked up. %s".formatted(lock, asked.name(), message),
				failure);
	}

	@Override
	public List<LockState.Holder> forceRelease(LockName lock, @Nullable String backend,
			Predicate<? super LockState.Holder> onlyIf) {
		return this.forcedReleases.release(lock, this.backends.get(backend), onlyIf);
	}

}
