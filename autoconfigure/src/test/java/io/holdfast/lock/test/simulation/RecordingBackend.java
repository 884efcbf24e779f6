package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * Records the requests of an engine to its backend and replaces owner ids with ids that
 * are the same in every run of a seed. Verifies that the engine sends no attempt after
 * the deadline, and no attempt for an abandoned claim.
 */
final class RecordingBackend implements LockBackend {

	/** How long a claim that does not wait may wait for an idle lease. */
	private static final long LONGEST_AFTER_DEMAND = Duration.ofMillis(200).toNanos();

	private final SimulatedProcess process;

	private final LockBackend store;

	private final Map<OwnerId, Owner> owners = new HashMap<>();

	RecordingBackend(SimulatedProcess process, LockBackend store) {
		this.process = process;
		this.store = store;
	}

	@Override
	public String name() {
		return this.store.name();
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.store.capabilities();
	}

	@Override
	public boolean releasesOnCaller() {
		return this.store.releasesOnCaller();
	}

	@Override
	public boolean findsOnCaller() {
		return this.store.findsOnCaller();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		Owner owner = owner(claim);
		record(owner, () -> "asks for the lock, %dms left".formatted(claim.remainingWait().toMillis()));
		if (owner.abandoned) {
			fail(owner, "an attempt was sent after the claim was abandoned");
		}
		if (this.process.nanos() > owner.deadline) {
			fail(owner, "an attempt was sent after the deadline");
		}
		long sentAt = this.process.nanos();
		return this.store.tryAcquire(owner.of(claim))
			.whenComplete((answer, failure) -> answered(owner, sentAt, answer, failure));
	}

	private void answered(Owner owner, long sentAt, @Nullable AcquireResult answer, @Nullable Throwable failure) {
		record(owner, () -> describe(answer, failure));
		if (answer instanceof AcquireResult.Contended contended && !owner.abandoned) {
			checks().refused(owner.waiting);
			contended.signal().whenComplete((news, nothing) -> notified(owner, news));
			if (contended.demanded()) {
				owner.deadline = Math.max(owner.deadline, this.process.nanos() + LONGEST_AFTER_DEMAND);
			}
		}
		else if (answer instanceof AcquireResult.Acquired acquired) {
			checks().granted(owner.waiting, sentAt, acquired.grant().lease());
		}
	}

	private void notified(Owner owner, @Nullable Object news) {
		if (news instanceof KeptLock kept) {
			record(owner, () -> "is granted the lock by the release before it, kept for %dms"
				.formatted(kept.time().toMillis()));
			checks().granted(owner.waiting);
		}
	}

	private static String describe(@Nullable AcquireResult answer, @Nullable Throwable failure) {
		if (answer instanceof AcquireResult.Acquired acquired) {
			return "is granted the lock, lease=%dms".formatted(acquired.grant().lease().toMillis());
		}
		if (answer instanceof AcquireResult.Contended contended) {
			return "is refused, advised to ask again in %dms".formatted(contended.retryAfter().toMillis());
		}
		return "has no definite answer: " + ((failure != null) ? failure : answer);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		grants.forEach((grant) -> record(owner(grant.claim()), () -> "renews"));
		return this.store.renew(grants).whenComplete((answers, failure) -> {
			for (int i = 0; i < grants.size(); i++) {
				Object answer = (answers != null) ? answers.get(i).getClass().getSimpleName() : failure;
				record(owner(grants.get(i).claim()), () -> "renewal answered: " + answer);
			}
		});
	}

	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		return this.store.confirm(grant);
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.store.find(lock)
			.whenComplete((state, failure) -> this.process.simulation()
				.history()
				.add(this.process.simulation(), this.process.name(), lock.toString(),
						() -> "finds " + ((state != null) ? state.waiters() + " waiters" : failure)));
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		Owner owner = owner(grant.claim());
		record(owner, () -> "releases");
		return this.store.release(grant)
			.whenComplete((answer, failure) -> record(owner,
					() -> "release answered: " + ((answer != null) ? answer.getClass().getSimpleName() : failure)));
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		Owner owner = owner(claim);
		owner.abandoned = true;
		checks().abandoned(owner.waiting);
		record(owner, () -> "abandons its claim");
		return this.store.abandon(owner.of(claim))
			.whenComplete((done, failure) -> record(owner,
					() -> "abandoning answered: " + ((failure != null) ? failure : "done")));
	}

	private Owner owner(Claim claim) {
		Owner owner = this.owners.get(claim.owner());
		if (owner == null) {
			int number = this.owners.size() / 2;
			OwnerId id = new OwnerId(new UUID(this.process.number(), number).toString());
			String alias = "%s.%d".formatted(this.process.name(), number);
			owner = new Owner(id, this.process.nanos() + claim.remainingWait().toNanos(),
					new WaitQueues.Waiting(this.process, alias, claim));
			this.owners.put(claim.owner(), owner);
			this.owners.put(id, owner);
		}
		return owner;
	}

	private void record(Owner owner, Supplier<String> what) {
		this.process.simulation()
			.history()
			.add(this.process.simulation(), this.process.name(), owner.waiting.lock(),
					() -> owner.waiting + " " + what.get());
	}

	private void fail(Owner owner, String what) {
		checks().fail(this.process, "attempts", owner.waiting.lock(), owner.waiting + ": " + what, null);
	}

	private Checks checks() {
		return this.process.simulation().checks();
	}

	private static final class Owner {

		private final OwnerId id;

		private long deadline;

		private final WaitQueues.Waiting waiting;

		private boolean abandoned;

		Owner(OwnerId id, long deadline, WaitQueues.Waiting waiting) {
			this.id = id;
			this.deadline = deadline;
			this.waiting = waiting;
		}

		Claim of(Claim claim) {
			return new Claim(claim.lock(), this.id, claim.mode(), claim.leaseTime(), claim.renew(),
					claim.remainingWait(), claim.fair(), claim.sticky());
		}

	}

}
