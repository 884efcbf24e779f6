package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.RenewResult;

/**
 * Holders and wait queue of one lock. Not thread-safe: the caller serializes access.
 *
 * <p>
 * Two claims conflict unless both are shared. A claim is granted if it conflicts with no
 * holder and with no earlier waiter that it must not overtake. A fair claim overtakes no
 * conflicting waiter, and no conflicting claim overtakes it. A shared claim never
 * overtakes an exclusive one, because a stream of readers could otherwise keep a writer
 * waiting forever. No claim overtakes a reader that was notified, for the same reason.
 */
final class LocalLock {

	/** The latest lease, which leads to those before it; an exclusive one is alone. */
	private @Nullable Lease leases;

	/** In order of arrival. Most locks never have a waiter. */
	private Map<OwnerId, Waiter> waiters = Collections.emptyMap();

	/** Signals of sticky leases that rejected claims have demanded. */
	private List<CompletableFuture<Void>> demanded = List.of();

	void removeExpired(long now) {
		for (Lease lease = this.leases; lease != null; lease = lease.before) {
			if (lease.endsAt - now <= 0) {
				remove(lease);
			}
		}
		if (!this.waiters.isEmpty()) {
			this.waiters.values().removeIf((waiter) -> waiter.expiresAt() - now <= 0);
		}
	}

	AcquireResult admit(Claim claim, long now, LongSupplier tokens) {
		Lease own = lease(claim.owner());
		if (own == null) {
			long blockedFor = blockedFor(claim, now);
			if (blockedFor > 0) {
				return refuse(claim, now, Duration.ofNanos(blockedFor));
			}
			this.waiters.remove(claim.owner());
			own = new Lease(new Grant(claim, tokens.getAsLong(), claim.leaseTime()), this.leases,
					!this.waiters.isEmpty());
			this.leases = own;
		}
		// a repeated request counts validity from now on, so the lease must too
		own.endsAt = now + nanos(own.grant.lease());
		return new AcquireResult.Acquired(own.grant);
	}

	private AcquireResult refuse(Claim claim, long now, Duration retryAfter) {
		CompletableFuture<Void> signal = new CompletableFuture<>();
		long remainingWait = nanos(claim.remainingWait());
		if (remainingWait > 0) {
			if (this.waiters.isEmpty()) {
				this.waiters = new LinkedHashMap<>(2);
			}
			// replacing the waiter keeps its position
			this.waiters.put(claim.owner(), new Waiter(claim, now + remainingWait, signal));
		}
		else {
			this.waiters.remove(claim.owner());
		}
		return new AcquireResult.Contended(signal.minimalCompletionStage(), retryAfter, demand());
	}

	/** Demands a sticky lease, which is exclusive and so the only one. */
	private boolean demand() {
		CompletableFuture<Void> wanted = (this.leases != null) ? this.leases.wanted : null;
		if (wanted != null) {
			this.demanded = List.of(wanted);
		}
		return wanted != null;
	}

	RenewResult renew(Grant grant, long now) {
		Lease lease = lease(grant);
		if (lease == null) {
			return new RenewResult.Refused();
		}
		lease.grant = grant;
		lease.endsAt = now + nanos(grant.lease());
		return new RenewResult.Renewed(grant.lease());
	}

	/**
	 * Ends the lease of a grant.
	 * @return whether it was held
	 */
	boolean release(Grant grant) {
		Lease lease = lease(grant);
		if (lease != null) {
			remove(lease);
		}
		return lease != null;
	}

	boolean withdraw(OwnerId owner) {
		Lease held = lease(owner);
		if (held != null) {
			remove(held);
		}
		boolean waited = this.waiters.remove(owner) != null;
		return held != null || waited;
	}

	private @Nullable Lease lease(Grant grant) {
		Lease lease = lease(grant.claim().owner());
		return (lease != null && lease.grant.storeToken() == grant.storeToken()) ? lease : null;
	}

	private @Nullable Lease lease(OwnerId owner) {
		Lease lease = this.leases;
		while (lease != null && !lease.grant.claim().owner().equals(owner)) {
			lease = lease.before;
		}
		return lease;
	}

	private void remove(Lease lease) {
		Lease after = this.leases;
		if (after == lease) {
			this.leases = lease.before;
			return;
		}
		while (after != null && after.before != lease) {
			after = after.before;
		}
		if (after != null) {
			after.before = lease.before;
		}
	}

	/**
	 * Returns the signals of the waiters that could be admitted now. They keep their
	 * positions: if one of them withdraws instead of retrying, the next waiter is
	 * notified. Also returns the signals of leases that were demanded.
	 */
	List<CompletableFuture<Void>> next(long now) {
		List<CompletableFuture<Void>> demanded = this.demanded;
		if (this.waiters.isEmpty() && demanded.isEmpty()) {
			return List.of();
		}
		this.demanded = List.of();
		List<CompletableFuture<Void>> signals = new ArrayList<>(demanded);
		for (Waiter waiter : this.waiters.values()) {
			if (blockedFor(waiter.claim(), now) == 0) {
				signals.add(waiter.signal());
				if (waiter.claim().mode() == LockMode.EXCLUSIVE) {
					break;
				}
			}
		}
		return signals;
	}

	LockState state(LockName lock, long now) {
		List<LockState.Holder> holders = new ArrayList<>();
		for (Lease lease = this.leases; lease != null; lease = lease.before) {
			holders.add(lease.holder(now));
		}
		return new LockState(lock, LocalLockBackend.NAME, holders, this.waiters.size());
	}

	boolean isEmpty() {
		return this.leases == null && this.waiters.isEmpty();
	}

	/**
	 * Returns the longest time in nanoseconds for which the present holders and waiters
	 * can block the claim; zero if none of them does.
	 */
	private long blockedFor(Claim claim, long now) {
		long longest = 0;
		for (Lease lease = this.leases; lease != null; lease = lease.before) {
			if (conflict(lease.grant.claim(), claim)) {
				longest = Math.max(longest, lease.endsAt - now);
			}
		}
		for (Waiter waiter : this.waiters.values()) {
			if (waiter.claim().owner().equals(claim.owner())) {
				break;
			}
			if (mayNotOvertake(claim, waiter)) {
				longest = Math.max(longest, waiter.expiresAt() - now);
			}
		}
		return longest;
	}

	private static boolean conflict(Claim one, Claim other) {
		return one.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE;
	}

	private static boolean mayNotOvertake(Claim claim, Waiter waiter) {
		Claim before = waiter.claim();
		return conflict(claim, before)
				&& (before.fair() || claim.fair() || claim.mode() == LockMode.SHARED || waiter.isNotifiedReader());
	}

	private static long nanos(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	/** A lease, linked to the one that was granted before it. */
	private static final class Lease {

		private Grant grant;

		private long endsAt;

		private @Nullable Lease before;

		/** {@code null} unless the lease is sticky. */
		private final @Nullable CompletableFuture<Void> wanted;

		/**
		 * Creates a lease.
		 * @param wanted whether others wait for the lock, if the lease is sticky
		 */
		Lease(Grant grant, @Nullable Lease before, boolean wanted) {
			this.before = before;
			this.wanted = grant.claim().sticky() ? new CompletableFuture<>() : null;
			if (this.wanted != null && wanted) {
				this.wanted.complete(null);
			}
			this.grant = (this.wanted != null) ? grant.withDemand(this.wanted) : grant;
		}

		LockState.Holder holder(long now) {
			return new LockState.Holder(this.grant.claim().owner().value(), this.grant.claim().mode(),
					this.grant.fencingToken(), Duration.ofNanos(this.endsAt - now));
		}

	}

	private record Waiter(Claim claim, long expiresAt, CompletableFuture<Void> signal) {

		boolean isNotifiedReader() {
			return this.claim.mode() == LockMode.SHARED && this.signal.isDone();
		}

	}

}
