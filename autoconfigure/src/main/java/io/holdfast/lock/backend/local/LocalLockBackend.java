package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.springframework.util.Assert;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.StripedMap;

/**
 * Lock backend for this JVM. In-memory locks exclude the threads of one process only: two
 * instances of an application do not see each other's locks.
 *
 * <p>
 * Each instance is a separate store. Leases are measured on the clock given to the
 * constructor, so a test can expire a lease by advancing that clock. Supports shared and
 * fair claims, responds immediately, and never blocks. Thread-safe.
 */
public final class LocalLockBackend implements LockBackend {

	/** The name of this backend in properties, annotations, and meters. */
	public static final String NAME = "local";

	/**
	 * The store would keep shorter leases, but clock drift and a pause of the thread
	 * would leave their holders no time.
	 */
	private static final Duration SHORTEST_LEASE = Duration.ofMillis(10);

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(SHORTEST_LEASE, Capability.SHARED,
			Capability.FAIR, Capability.WAIT_QUEUE, Capability.DEMAND);

	private static final long SWEEP_NANOS = Duration.ofSeconds(10).toNanos();

	/**
	 * Token counter of all locks and all instances, so that no lock needs a counter of
	 * its own. It starts at the wall clock's microseconds, which are read only this once.
	 * A process without memory stays above its predecessor's tokens only if it starts
	 * from a value that has grown since. No lease depends on it.
	 */
	private static final AtomicLong TOKENS = new AtomicLong(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));

	private static final CompletionStage<ReleaseResult> RELEASED = CompletableFuture
		.completedFuture(new ReleaseResult.Released());

	private static final CompletionStage<ReleaseResult> NOT_HELD = CompletableFuture
		.completedFuture(new ReleaseResult.NotHeld());

	private final StripedMap<LockName, LocalLock> locks = new StripedMap<>();

	private final LongSupplier nanoClock;

	private final AtomicLong nextSweep;

	/** Creates an empty store on this JVM's monotonic clock. */
	public LocalLockBackend() {
		this(System::nanoTime);
	}

	/**
	 * Creates an empty store.
	 * @param nanoClock the clock that measures leases, in nanoseconds: monotonic, with
	 * any origin, and safe to read from any thread
	 */
	public LocalLockBackend(LongSupplier nanoClock) {
		Assert.notNull(nanoClock, "'nanoClock' must not be null");
		this.nanoClock = nanoClock;
		this.nextSweep = new AtomicLong(nanoClock.getAsLong() + SWEEP_NANOS);
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return CAPABILITIES;
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return CompletableFuture
			.completedFuture(visit(claim.lock(), (local, now) -> local.admit(claim, now, TOKENS::incrementAndGet)));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return CompletableFuture.completedStage(grants.stream()
			.map((grant) -> visit(grant.claim().lock(), (local, now) -> local.renew(grant, now)))
			.toList());
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return visit(grant.claim().lock(), (local, now) -> local.release(grant)) ? RELEASED : NOT_HELD;
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		visit(claim.lock(), (local, now) -> local.withdraw(claim.owner()));
		return CompletableFuture.completedStage(null);
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return CompletableFuture.completedStage(visit(lock, (local, now) -> local.state(lock, now)));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return CompletableFuture.completedStage(StoreStatus.available(Map.of()));
	}

	/**
	 * Returns the locks that are currently held or waited for. The set is empty after a
	 * test that has released all its locks.
	 * @return a copy of their names, in no particular order
	 */
	public Set<LockName> inUse() {
		sweep();
		return Set.copyOf(this.locks.keys());
	}

	/**
	 * Returns the number of locks in memory, including those that are no longer held or
	 * waited for.
	 * @return the number
	 */
	int remembered() {
		return this.locks.keys().size();
	}

	/**
	 * Runs an operation on one lock with exclusive access. Waiters that can now be
	 * admitted are notified afterwards, because the signal runs their code.
	 */
	private <T> T visit(LockName lock, Visit<T> visit) {
		StripedMap.Stripe<LockName, LocalLock> stripe = this.locks.of(lock);
		List<CompletableFuture<Void>> notified;
		long now;
		T result;
		stripe.lock();
		try {
			LocalLock present = stripe.get(lock);
			LocalLock local = (present != null) ? present : new LocalLock();
			// under the lock, so that the leases of a lock are dated in order
			now = this.nanoClock.getAsLong();
			local.removeExpired(now);
			result = visit.apply(local, now);
			notified = local.next(now);
			if (local.isEmpty()) {
				stripe.remove(lock);
			}
			else if (present == null) {
				stripe.put(lock, local);
			}
		}
		finally {
			stripe.unlock();
		}
		if (!notified.isEmpty()) {
			notified.forEach((signal) -> signal.complete(null));
		}
		sweepNowAndThen(now);
		return result;
	}

	private void sweepNowAndThen(long now) {
		long due = this.nextSweep.get();
		if (now - due >= 0 && this.nextSweep.compareAndSet(due, now + SWEEP_NANOS)) {
			sweep();
		}
	}

	/**
	 * Removes expired leases and waiters that did not retry, for locks that have not been
	 * used since.
	 */
	private void sweep() {
		this.locks.keys().forEach((lock) -> visit(lock, (local, now) -> true));
	}

	/**
	 * An operation on one lock.
	 */
	private interface Visit<T> {

		T apply(LocalLock local, long now);

	}

}
