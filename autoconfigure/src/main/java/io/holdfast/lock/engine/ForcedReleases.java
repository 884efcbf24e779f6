package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.GuardedLog;

/**
 * Releases locks by force: takes each lease from its holder in this JVM, and then revokes
 * it at the store. Thread-safe.
 */
final class ForcedReleases {

	private static final GuardedLog logger = GuardedLog.of(EngineInspector.class);

	private final EngineContext context;

	private final StoreQueries queries;

	private final Consumer<LockForceReleasedEvent> listener;

	/** The locks that are being released: a second call would report the same holders. */
	private final Set<LockAtBackend> underWay = ConcurrentHashMap.newKeySet();

	ForcedReleases(EngineContext context, StoreQueries queries, Consumer<LockForceReleasedEvent> listener) {
		this.context = context;
		this.queries = queries;
		this.listener = listener;
	}

	/**
	 * Releases a lock from the holders that a condition accepts.
	 * @return the holders that this call has evicted
	 */
	List<LockState.Holder> release(LockName lock, LockBackend backend, Predicate<? super LockState.Holder> onlyIf) {
		LockAtBackend target = new LockAtBackend(lock, backend.name());
		if (!this.underWay.add(target)) {
			throw new LockBackendException(lock, backend.name(),
					"Lock '%s' (backend %s) is being released by force at this moment. Look at its present holder before you repeat the call."
						.formatted(lock, backend.name()),
					null);
		}
		try {
			return evict(target, backend, find(target, backend), onlyIf);
		}
		finally {
			this.underWay.remove(target);
		}
	}

	private List<LockState.Holder> find(LockAtBackend target, LockBackend backend) {
		try {
			Duration timeout = this.context.settings().responseTimeout();
			return this.queries.ask(backend, timeout, () -> backend.find(target.lock())).holders();
		}
		catch (LockBackendException ex) {
			throw new LockBackendException(target.lock(), target.backend(),
					"Lock '%s' (backend %s) was not released by force, because its holders are unknown. %s"
						.formatted(target.lock(), target.backend(), ex.getMessage()),
					ex);
		}
	}

	private List<LockState.Holder> evict(LockAtBackend target, LockBackend backend, List<LockState.Holder> found,
			Predicate<? super LockState.Holder> onlyIf) {
		List<LockState.Holder> evicted = new ArrayList<>();
		for (LockState.Holder holder : found) {
			// a holder of this JVM must not rely on the lock when another one gets it
			Eviction here = loseHere(target, holder, onlyIf);
			if (here.accepted()) {
				logger.warn("Lock '%s' (backend %s) is released by force. Its holder loses it: owner %s (token %s)"
					.formatted(target.lock(), target.backend(), holder.ownerId(), here.holder().token()));
				if (revoke(target, backend, holder, here, evicted) || here.lost()) {
					evicted.add(here.holder());
				}
			}
		}
		if (!evicted.isEmpty()) {
			notifyOf(new LockForceReleasedEvent(target.lock(), target.backend(), evicted, List.of()));
		}
		return evicted;
	}

	private boolean revoke(LockAtBackend target, LockBackend backend, LockState.Holder found, Eviction here,
			List<LockState.Holder> evicted) {
		try {
			return this.queries.ask(backend, this.context.settings().responseTimeout(),
					() -> backend.revoke(target.lock(), found));
		}
		catch (LockException ex) {
			notifyOf(new LockForceReleasedEvent(target.lock(), target.backend(), evicted, List.of(here.holder())));
			throw new LockBackendException(target.lock(), target.backend(),
					"Lock '%s' (backend %s): it is unknown whether owner %s (token %s) was released by force. %s Look at the present holder, then repeat the call."
						.formatted(target.lock(), target.backend(), found.ownerId(), here.holder().token(),
								ex.getMessage()),
					ex);
		}
	}

	/**
	 * Declares the lease of a holder lost if it is in this JVM and the condition accepts
	 * its present holder. While it does, another one may take the lease over; then the
	 * condition must accept that one.
	 */
	private Eviction loseHere(LockAtBackend target, LockState.Holder holder,
			Predicate<? super LockState.Holder> onlyIf) {
		while (true) {
			Lease present = present(target, holder.ownerId());
			LockState.Holder named = (present != null) ? withToken(holder, present.token()) : holder;
			if (!onlyIf.test(named)) {
				return new Eviction(named, false, false);
			}
			if (present != null) {
				boolean lost = lose(present);
				if (present.store.holder() == present) {
					return new Eviction(named, true, lost);
				}
				continue;
			}
			boolean refused = refuse(target, holder.ownerId());
			if (refused || present(target, holder.ownerId()) == null) {
				return new Eviction(named, true, refused);
			}
		}
	}

	/**
	 * Declares a lease lost. If its holder is just ending its hold, this first awaits
	 * whether the lease is released or idle: another caller may still take it over. That
	 * takes a few steps of the holder's thread.
	 * @return whether this call has taken the lease from its holder or from its instance
	 */
	private boolean lose(Lease present) {
		StoreLease store = present.store;
		long deadline = this.context.time().nanos() + this.context.settings().responseTimeout().toNanos();
		while (store.holder() == present) {
			present.lose(LossCause.FORCED);
			if (present.lost() || store.endIfIdleByForce()) {
				return true;
			}
			if (store.hasEnded() || !present.keepsLock()) {
				return false;
			}
			if (this.context.time().nanos() > deadline) {
				// the next caller that takes it over loses it
				store.lose(LossCause.FORCED);
				return false;
			}
			Thread.yield();
		}
		return false;
	}

	/**
	 * Ends the acquisition that the store has granted the lock, but whose lease has not
	 * started. A lease that starts at this moment is lost.
	 * @return whether there is such an acquisition
	 */
	private boolean refuse(LockAtBackend target, String owner) {
		Acquisition granted = this.context.registry()
			.waiting()
			.stream()
			.filter((waiting) -> LockAtBackend.of(waiting.request).equals(target) && waiting.attempts.haveOwner(owner))
			.findFirst()
			.orElse(null);
		if (granted == null) {
			return false;
		}
		granted.attempts.forceOut();
		Lease started = present(target, owner);
		if (started != null) {
			started.lose(LossCause.FORCED);
		}
		return true;
	}

	private @Nullable Lease present(LockAtBackend target, String owner) {
		return this.context.registry()
			.held()
			.stream()
			.filter((lease) -> LockAtBackend.of(lease.request()).equals(target)
					&& lease.grant().claim().owner().value().equals(owner))
			.findFirst()
			.map((lease) -> lease.store.holder())
			.orElse(null);
	}

	/** The store knows only the token of the first of several holders of a lease. */
	private static LockState.Holder withToken(LockState.Holder holder, FencingToken token) {
		return new LockState.Holder(holder.ownerId(), holder.mode(), token, holder.remainingLease());
	}

	private void notifyOf(LockForceReleasedEvent event) {
		try {
			this.listener.accept(event);
		}
		catch (Throwable ex) {
			// the lock is released in any case
			Failures.keepInterrupt(ex);
			logger.error("A listener for the forced release of lock '%s' failed".formatted(event.lock()), ex);
		}
	}

	/**
	 * The decision about a holder in this JVM.
	 *
	 * @param holder the present holder, with its own token
	 * @param accepted whether the condition accepts it
	 * @param lost whether this call has taken the lease from it
	 */
	private record Eviction(LockState.Holder holder, boolean accepted, boolean lost) {
	}

}
