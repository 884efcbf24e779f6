package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * Holders and wait queue of one lock. Not thread-safe: the caller serializes access.
 *
 * <p>
 * Two claims conflict unless both are shared. A claim is granted if it conflicts with no
 * holder and with no earlier waiter that it must not overtake. A fair claim overtakes no
 * conflicting waiter, and no conflicting claim overtakes it. A shared claim never
 * overtakes an exclusive one, because a stream of readers could otherwise keep a writer
 * waiting forever.
 */
final class LocalLock {

	private final Map<OwnerId, Lease> leases = new LinkedHashMap<>(2);

	private final Map<OwnerId, Waiter> waiters = new LinkedHashMap<>(2);

	void removeExpired(long now) {
		this.leases.values().removeIf((lease) -> lease.endsAt() - now <= 0);
		this.waiters.values().removeIf((waiter) -> waiter.expiresAt() - now <= 0);
	}

	AcquireResult admit(Claim claim, long now, LongSupplier tokens) {
		Lease own = this.leases.get(claim.owner());
		if (own == null) {
			long blockedFor = blockedFor(claim, now);
			if (blockedFor > 0) {
				return refuse(claim, now, Duration.ofNanos(blockedFor));
			}
			this.waiters.remove(claim.owner());
			own = Lease.start(new Grant(claim, tokens.getAsLong(), claim.leaseTime()), now);
		}
		// a repeated request counts validity from now on, so the lease must too
		this.leases.put(claim.owner(), Lease.start(own.grant(), now));
		return new AcquireResult.Acquired(own.grant());
	}

	private AcquireResult refuse(Claim claim, long now, Duration retryAfter) {
		CompletableFuture<Void> signal = new CompletableFuture<>();
		long remainingWait = nanos(claim.remainingWait());
		if (remainingWait > 0) {
			// replacing the waiter keeps its position
			this.waiters.put(claim.owner(), new Waiter(claim, now + remainingWait, signal));
		}
		else {
			this.waiters.remove(claim.owner());
		}
		return new AcquireResult.Contended(signal.minimalCompletionStage(), retryAfter);
	}

	RenewResult renew(Grant grant, long now) {
		if (!holds(grant)) {
			return new RenewResult.Refused();
		}
		this.leases.put(grant.claim().owner(), Lease.start(grant, now));
		return new RenewResult.Renewed(grant.lease());
	}

	ReleaseResult release(Grant grant) {
		if (!holds(grant)) {
			return new ReleaseResult.NotHeld();
		}
		this.leases.remove(grant.claim().owner());
		return new ReleaseResult.Released();
	}

	boolean withdraw(OwnerId owner) {
		boolean held = this.leases.remove(owner) != null;
		boolean waited = this.waiters.remove(owner) != null;
		return held || waited;
	}

	private boolean holds(Grant grant) {
		Lease lease = this.leases.get(grant.claim().owner());
		return lease != null && lease.grant().storeToken() == grant.storeToken();
	}

	/**
	 * Returns the signals of the waiters that could be admitted now. They keep their
	 * positions: if one of them withdraws instead of retrying, the next waiter is
	 * notified.
	 */
	List<CompletableFuture<Void>> next(long now) {
		List<CompletableFuture<Void>> signals = new ArrayList<>(0);
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
		return new LockState(lock, LocalLockBackend.NAME,
				this.leases.values().stream().map((lease) -> lease.holder(now)).toList(), this.waiters.size());
	}

	boolean isEmpty() {
		return this.leases.isEmpty() && this.waiters.isEmpty();
	}

	/**
	 * Returns the longest time in nanoseconds for which the present holders and waiters
	 * can block the claim; zero if none of them does.
	 */
	private long blockedFor(Claim claim, long now) {
		long longest = 0;
		for (Lease lease : this.leases.values()) {
			if (conflict(lease.grant().claim(), claim)) {
				longest = Math.max(longest, lease.endsAt() - now);
			}
		}
		for (Waiter waiter : this.waiters.values()) {
			if (waiter.claim().owner().equals(claim.owner())) {
				break;
			}
			if (mayNotOvertake(claim, waiter.claim())) {
				longest = Math.max(longest, waiter.expiresAt() - now);
			}
		}
		return longest;
	}

	private static boolean conflict(Claim one, Claim other) {
		return one.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE;
	}

	private static boolean mayNotOvertake(Claim claim, Claim before) {
		return conflict(claim, before) && (before.fair() || claim.fair() || claim.mode() == LockMode.SHARED);
	}

	private static long nanos(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	private record Lease(Grant grant, long endsAt) {

		static Lease start(Grant grant, long now) {
			return new Lease(grant, now + nanos(grant.lease()));
		}

		LockState.Holder holder(long now) {
			return new LockState.Holder(this.grant.claim().owner().value(), this.grant.claim().mode(),
					this.grant.fencingToken(), Duration.ofNanos(this.endsAt - now));
		}

	}

	private record Waiter(Claim claim, long expiresAt, CompletableFuture<Void> signal) {
	}

}
