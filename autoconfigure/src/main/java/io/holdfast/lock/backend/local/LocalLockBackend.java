package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.springframework.util.Assert;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * The store of locks within this JVM. It excludes the threads of one process and nothing
 * else: two instances of an application do not see each other's locks.
 *
 * <p>
 * Every instance is a store of its own. Time is the clock's that it was given, so a test
 * can end a lease by moving that clock. Knows shared and fair claims, answers at once and
 * never blocks. Thread-safe.
 */
public final class LocalLockBackend implements LockBackend {

	/** The name of this store in properties, annotations and meters. */
	public static final String NAME = "local";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, true, false, false,
			Duration.ofMillis(1));

	private static final long SWEEP_NANOS = Duration.ofSeconds(10).toNanos();

	/**
	 * One counter for all locks, so that no key needs a memory of its own, and for all
	 * instances. It starts at the wall clock's microseconds, which is read this once: a
	 * process that remembers nothing can only continue above its predecessor if it starts
	 * from something that has grown meanwhile. No lease depends on it.
	 */
	private static final AtomicLong TOKENS = new AtomicLong(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));

	private final ConcurrentMap<LockName, LocalLock> locks = new ConcurrentHashMap<>();

	private final LongSupplier nanoClock;

	private final AtomicLong nextSweep;

	/**
	 * Create an empty store on this JVM's monotonic clock.
	 */
	public LocalLockBackend() {
		this(System::nanoTime);
	}

	/**
	 * Create an empty store.
	 * @param nanoClock the clock that leases are measured by, in nanoseconds: monotonic,
	 * with any origin, and safe to be read by any thread
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
		sweepNowAndThen();
		return CompletableFuture
			.completedStage(visit(claim.lock(), (local, now) -> local.admit(claim, now, TOKENS::incrementAndGet)));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return CompletableFuture.completedStage(grants.stream()
			.map((grant) -> visit(grant.claim().lock(), (local, now) -> local.renew(grant, now)))
			.toList());
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return CompletableFuture.completedStage(visit(grant.claim().lock(), (local, now) -> local.release(grant)));
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		visit(claim.lock(), (local, now) -> local.withdraw(claim.owner()));
		return CompletableFuture.completedStage(null);
	}

	/**
	 * The locks that somebody holds or waits for at this moment. A test that has ended
	 * well finds none.
	 * @return a copy of their names, in no order
	 */
	public Set<LockName> inUse() {
		sweep();
		return Set.copyOf(this.locks.keySet());
	}

	/**
	 * How many locks take up memory, whether or not somebody still holds or waits.
	 * @return the number
	 */
	int remembered() {
		return this.locks.size();
	}

	/**
	 * Acts on one lock's line while nobody else does. Whom this may let in is told
	 * afterwards, since the waiter's code runs in the signal.
	 */
	private <T> T visit(LockName lock, Visit<T> visit) {
		List<T> result = new ArrayList<>(1);
		List<CompletableFuture<Void>> woken = new ArrayList<>(0);
		this.locks.compute(lock, (key, present) -> {
			LocalLock local = (present != null) ? present : new LocalLock();
			long now = this.nanoClock.getAsLong();
			local.forgetWhatEnded(now);
			result.add(visit.apply(local, now));
			woken.addAll(local.next(now));
			return local.isEmpty() ? null : local;
		});
		woken.forEach((signal) -> signal.complete(null));
		return result.get(0);
	}

	private void sweepNowAndThen() {
		long now = this.nanoClock.getAsLong();
		long due = this.nextSweep.get();
		if (now - due >= 0 && this.nextSweep.compareAndSet(due, now + SWEEP_NANOS)) {
			sweep();
		}
	}

	/**
	 * Forgets leases that ended without a release, and waiters that never came back, of
	 * locks that nobody has asked for since.
	 */
	private void sweep() {
		this.locks.keySet().forEach((lock) -> visit(lock, (local, now) -> true));
	}

	/**
	 * What is done to a line.
	 */
	private interface Visit<T> {

		T apply(LocalLock local, long now);

	}

}
