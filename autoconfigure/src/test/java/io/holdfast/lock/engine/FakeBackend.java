package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * A backend that a test scripts. It keeps exclusive locks until they are released, never
 * expires them, and answers differently where a test has planned it.
 */
final class FakeBackend implements LockBackend {

	final List<String> calls = new Recording<>();

	final Map<LockName, OwnerId> owners = new ConcurrentHashMap<>();

	final Deque<Function<Claim, CompletionStage<AcquireResult>>> acquires = new ConcurrentLinkedDeque<>();

	final Deque<Function<Grant, CompletionStage<List<RenewResult>>>> renewals = new ConcurrentLinkedDeque<>();

	final Deque<Function<Grant, CompletionStage<ReleaseResult>>> releases = new ConcurrentLinkedDeque<>();

	final Deque<Supplier<CompletionStage<Boolean>>> retentions = new ConcurrentLinkedDeque<>();

	final Deque<Function<Claim, CompletionStage<Void>>> withdrawals = new ConcurrentLinkedDeque<>();

	final Deque<CompletionStage<LockState>> lookups = new ConcurrentLinkedDeque<>();

	final List<Claim> claims = new Recording<>();

	final List<Integer> batches = new Recording<>();

	/** Claims sent after their withdrawal, and further faults that a test adds. */
	final List<String> faults = new Recording<>();

	private final Set<OwnerId> abandoned = new HashSet<>();

	CompletableFuture<Void> signal = new CompletableFuture<>();

	CompletableFuture<Void> revoked = new CompletableFuture<>();

	/** The demand for the latest sticky lease. */
	CompletableFuture<Void> wanted = new CompletableFuture<>();

	boolean reportsDemand = true;

	CompletionStage<Boolean> confirmation = CERTAIN;

	BackendCapabilities capabilities = capableOf();

	boolean releasesOnCaller;

	boolean findsOnCaller;

	/** The thread that delivers responses, if there is one. */
	volatile @Nullable Thread responseThread;

	Duration retryAfter = Duration.ofSeconds(1);

	/** How many claims of other JVMs wait, or {@code null} if that is unknown. */
	@Nullable Integer waiters;

	int finds;

	private long tokens = 1;

	/** Returns the capabilities of most stores and further ones. */
	static BackendCapabilities capableOf(Capability... further) {
		Set<Capability> all = EnumSet.of(Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE);
		all.addAll(List.of(further));
		return new BackendCapabilities(Duration.ofMillis(10), all);
	}

	@Override
	public String name() {
		return "fake";
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.capabilities;
	}

	@Override
	public boolean releasesOnCaller() {
		return this.releasesOnCaller;
	}

	@Override
	public boolean findsOnCaller() {
		return this.findsOnCaller;
	}

	@Override
	public synchronized CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		this.calls.add("acquire " + claim.lock());
		this.claims.add(claim);
		if (this.abandoned.contains(claim.owner())) {
			this.faults.add("acquire after abandon: " + claim);
		}
		Function<Claim, CompletionStage<AcquireResult>> planned = this.acquires.poll();
		return (planned != null) ? planned.apply(claim) : CompletableFuture.completedFuture(answer(claim));
	}

	synchronized AcquireResult answer(Claim claim) {
		OwnerId owner = this.owners.get(claim.lock());
		if (owner == null || owner.equals(claim.owner()) || claim.mode() == LockMode.SHARED) {
			this.owners.put(claim.lock(), claim.owner());
			Grant grant = new Grant(claim, ++this.tokens, claim.leaseTime(), this.revoked);
			this.wanted = new CompletableFuture<>();
			return new AcquireResult.Acquired(
					(claim.sticky() && this.reportsDemand) ? grant.withDemand(this.wanted) : grant);
		}
		return new AcquireResult.Contended(this.signal, this.retryAfter);
	}

	synchronized boolean called(String call) {
		return this.calls.contains(call);
	}

	synchronized boolean holds(LockName lock) {
		return this.owners.containsKey(lock);
	}

	synchronized boolean holdsAny() {
		return !this.owners.isEmpty();
	}

	/** Makes another JVM the holder of the lock. */
	synchronized void heldByAnother(LockName lock) {
		this.owners.put(lock, OwnerId.random());
	}

	/** Releases the other JVM's lock and notifies the waiters. */
	void freedByAnother(LockName lock) {
		CompletableFuture<Void> notification = this.signal;
		synchronized (this) {
			this.owners.remove(lock);
			this.signal = new CompletableFuture<>();
		}
		notification.complete(null);
	}

	@Override
	public synchronized CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		this.batches.add(grants.size());
		this.calls.add("renew");
		Function<Grant, CompletionStage<List<RenewResult>>> planned = this.renewals.poll();
		if (planned != null) {
			return planned.apply(grants.get(0));
		}
		return CompletableFuture
			.completedFuture(grants.stream().<RenewResult>map((g) -> new RenewResult.Renewed(g.lease())).toList());
	}

	@Override
	public boolean answersOn(Thread thread) {
		return thread == this.responseThread;
	}

	@Override
	public synchronized CompletionStage<Boolean> confirm(Grant grant) {
		return this.confirmation;
	}

	/** Keeps the lock forever, because this store expires nothing. */
	@Override
	public synchronized CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		this.calls.add("retain %s for %s".formatted(grant.claim().lock(), remaining));
		Supplier<CompletionStage<Boolean>> planned = this.retentions.poll();
		return (planned != null) ? planned.get() : CompletableFuture
			.completedFuture(grant.claim().owner().equals(this.owners.get(grant.claim().lock())));
	}

	@Override
	public synchronized CompletionStage<ReleaseResult> release(Grant grant) {
		this.calls.add("release " + grant.claim().lock());
		Function<Grant, CompletionStage<ReleaseResult>> planned = this.releases.poll();
		return (planned != null) ? planned.apply(grant) : CompletableFuture.completedFuture(free(grant.claim()));
	}

	synchronized ReleaseResult free(Claim claim) {
		return this.owners.remove(claim.lock(), claim.owner()) ? new ReleaseResult.Released()
				: new ReleaseResult.NotHeld();
	}

	@Override
	public synchronized CompletionStage<LockState> find(LockName lock) {
		this.finds++;
		OwnerId owner = this.owners.get(lock);
		List<LockState.Holder> holders = (owner != null)
				? List.of(new LockState.Holder(owner.value(), LockMode.EXCLUSIVE, new FencingToken(1), null))
				: List.of();
		return this.lookups.isEmpty()
				? CompletableFuture.completedFuture(new LockState(lock, "fake", holders, this.waiters))
				: this.lookups.remove();
	}

	@Override
	public synchronized CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		boolean held = new OwnerId(holder.ownerId()).equals(this.owners.get(lock));
		return abandon(Claim.heldBy(lock, holder, Duration.ofSeconds(1))).thenApply((done) -> held);
	}

	@Override
	public synchronized CompletionStage<Void> abandon(Claim claim) {
		this.calls.add("abandon " + claim.lock());
		this.abandoned.add(claim.owner());
		Function<Claim, CompletionStage<Void>> planned = this.withdrawals.poll();
		if (planned != null) {
			return planned.apply(claim);
		}
		free(claim);
		return CompletableFuture.completedFuture(null);
	}

}
