package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * A store of one lock behind an unreliable network. Requests and answers are late or
 * lost, and leases may be shorter than requested. Its clock runs slightly faster or
 * slower than that of its callers.
 */
final class UnreliableStore implements LockBackend {

	private static final BackendCapabilities CAPABILITIES = FakeBackend.capableOf();

	private final ManualTime time;

	private final SplittableRandom random;

	private final Duration lease;

	/** The speed of the store's clock: within one percent of the callers' clock. */
	private final double speed;

	private final Set<OwnerId> releaseSent = new HashSet<>();

	final List<String> faults = new ArrayList<>();

	private OwnerId owner;

	private long endsAt;

	private long tokens;

	UnreliableStore(ManualTime time, SplittableRandom random, Duration lease) {
		this.time = time;
		this.random = random;
		this.lease = lease;
		this.speed = 0.99 + 0.02 * random.nextDouble();
	}

	/** Whether the owner holds the lock at this moment, by the store's own clock. */
	boolean isHeldBy(String owner) {
		return this.owner != null && clock() < this.endsAt && this.owner.value().equals(owner);
	}

	private long clock() {
		return (long) (this.time.nanos() * this.speed);
	}

	@Override
	public String name() {
		return "unreliable";
	}

	@Override
	public BackendCapabilities capabilities() {
		return CAPABILITIES;
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return sent(() -> {
			if (this.owner != null && clock() < this.endsAt && !this.owner.equals(claim.owner())) {
				return new AcquireResult.Contended(new CompletableFuture<>(), this.lease.dividedBy(10));
			}
			if (!isHeldBy(claim.owner().value())) {
				this.tokens++;
				this.owner = claim.owner();
				this.endsAt = 0;
			}
			return new AcquireResult.Acquired(new Grant(claim, this.tokens, startLease(claim.leaseTime())));
		});
	}

	/** Starts a lease. An earlier promise is kept, even if the new lease is shorter. */
	private Duration startLease(Duration requested) {
		Duration length = (this.random.nextInt(4) == 0) ? requested.dividedBy(2) : requested;
		this.endsAt = Math.max(this.endsAt, clock() + length.toNanos());
		return length;
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		grants.stream()
			.filter((grant) -> this.releaseSent.contains(grant.claim().owner()))
			.forEach((grant) -> this.faults.add("renewed after its release"));
		return sent(() -> grants.stream()
			.<RenewResult>map((grant) -> isHeldBy(grant.claim().owner().value())
					? new RenewResult.Renewed(startLease(grant.claim().leaseTime())) : new RenewResult.Refused())
			.toList());
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		this.releaseSent.add(grant.claim().owner());
		return sent(() -> free(grant.claim()) ? new ReleaseResult.Released() : new ReleaseResult.NotHeld());
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return sent(() -> {
			free(claim);
			return null;
		});
	}

	private boolean free(Claim claim) {
		boolean held = isHeldBy(claim.owner().value());
		if (held) {
			this.owner = null;
		}
		return held;
	}

	private <T> CompletionStage<T> sent(Supplier<T> request) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		deliver(() -> {
			T result = request.get();
			deliver(() -> answer.complete(result));
		});
		return answer;
	}

	/** Delivers a message: usually soon, sometimes late, and sometimes never. */
	private void deliver(Runnable arrival) {
		int roll = this.random.nextInt(20);
		if (roll == 0) {
			return;
		}
		double most = this.lease.toNanos() * ((roll < 3) ? 1.2 : 0.05);
		this.time.after((long) (most * this.random.nextDouble()), arrival);
	}

}
