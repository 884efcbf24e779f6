package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.WaitingAcquisition;
import io.holdfast.lock.spi.LockBackend;

/**
 * Reads the state of an engine and of its stores. Costs the engine nothing: it reads what
 * the engine keeps anyway. Thread-safe.
 */
public final class EngineInspector implements LockInspector {

	private static final Log logger = LogFactory.getLog(EngineInspector.class);

	private final EngineContext context;

	private final LockBackends backends;

	private final Consumer<LockForceReleasedEvent> onForceRelease;

	private final StoreQueries queries = new StoreQueries();

	/**
	 * Creates an inspector.
	 * @param engine the engine
	 * @param backends the backends of the engine
	 * @param onForceRelease notified of each lock that is released by force
	 */
	public EngineInspector(LockEngine engine, LockBackends backends, Consumer<LockForceReleasedEvent> onForceRelease) {
		this.context = engine.context();
		this.backends = backends;
		this.onForceRelease = onForceRelease;
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
				nameOf(acquisition.steps.caller()), Duration.ofNanos(acquisition.wait.elapsed()),
				acquisition.wait.remaining());
	}

	@Override
	public LockState find(LockName lock, @Nullable String backend) {
		return find(lock, this.backends.get(backend));
	}

	private LockState find(LockName lock, LockBackend asked) {
		return this.queries.ask(asked, timeout(), () -> asked.find(lock));
	}

	@Override
	public List<LockState.Holder> forceRelease(LockName lock, @Nullable String backend) {
		LockBackend asked = this.backends.get(backend);
		List<LockState.Holder> holders = find(lock, asked).holders();
		if (holders.isEmpty()) {
			return holders;
		}
		logger.warn("Lock '%s' (backend %s) is released by force. Its holders lose it: %s".formatted(lock, asked.name(),
				texts(holders)));
		List<LockState.Holder> evicted = new ArrayList<>();
		for (LockState.Holder holder : holders) {
			// a holder of this instance must not rely on the lock when another one gets
			// it
			evicted.add(loseHere(lock, asked, holder));
			this.queries.ask(asked, timeout(), () -> asked.revoke(lock, holder).thenApply((done) -> true));
		}
		notifyOf(new LockForceReleasedEvent(lock, asked.name(), evicted));
		return evicted;
	}

	private void notifyOf(LockForceReleasedEvent event) {
		try {
			this.onForceRelease.accept(event);
		}
		catch (RuntimeException ex) {
			logger.error("A listener for the forced release of lock '%s' failed".formatted(event.lock()), ex);
		}
	}

	/**
	 * Declares the lease of a holder lost if it is in this instance.
	 * @return the holder, with the token of the caller that has the lease now: the store
	 * knows only the first of several
	 */
	private LockState.Holder loseHere(LockName lock, LockBackend backend, LockState.Holder holder) {
		LockState.Holder evicted = holder;
		for (Lease lease : this.context.registry().held()) {
			if (lease.request().lock().equals(lock) && lease.request().backend() == backend
					&& lease.grant().claim().owner().value().equals(holder.ownerId())) {
				lease.store.lose(LossCause.FORCED);
				evicted = new LockState.Holder(holder.ownerId(), holder.mode(), lease.store.holder().token(),
						holder.remainingLease());
			}
		}
		return evicted;
	}

	private static List<String> texts(List<LockState.Holder> holders) {
		return holders.stream()
			.map((holder) -> "owner %s (token %s)".formatted(holder.ownerId(), holder.token()))
			.toList();
	}

	private Duration timeout() {
		return this.context.settings().responseTimeout();
	}

	/** A lock and where it is kept. */
	private record LockAtBackend(LockName lock, String backend) {

		static LockAtBackend of(ResolvedRequest request) {
			return new LockAtBackend(request.lock(), request.backend().name());
		}

	}

}
