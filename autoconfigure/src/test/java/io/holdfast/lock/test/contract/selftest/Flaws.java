package io.holdfast.lock.test.contract.selftest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.ReleaseResult.NotHeld;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.RenewResult.Refused;
import io.holdfast.lock.spi.RenewResult.Renewed;

/**
 * Clients with one flaw each, as found in real lock clients.
 */
final class Flaws {

	private Flaws() {
	}

	/** Deletes the lock without checking its owner. */
	static class FreesTheSuccessor extends Wire {

		FreesTheSuccessor(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return super.release(grant).thenCompose((result) -> {
				Grant successor = server().latest().get(grant.claim().lock());
				return (result instanceof NotHeld && successor != null) ? super.release(successor)
						: CompletableFuture.completedStage(result);
			});
		}

	}

	/** Sets a new expiry and its own owner id without checking the current owner. */
	static class StealsOnRenewal extends Wire {

		StealsOnRenewal(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return super.renew(grants).thenApply((results) -> {
				for (int i = 0; i < grants.size(); i++) {
					Claim stale = grants.get(i).claim();
					if (results.get(i) instanceof Refused) {
						server().store().abandon(server().latest().get(stale.lock()).claim());
						server().store().tryAcquire(stale);
					}
				}
				return grants.stream().<RenewResult>map((grant) -> new Renewed(grant.lease())).toList();
			});
		}

	}

	/** Reports a renewal without a request to the server. */
	static class ReportsRenewalWithoutRenewing extends Wire {

		ReportsRenewalWithoutRenewing(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return CompletableFuture
				.completedStage(grants.stream().<RenewResult>map((grant) -> new Renewed(grant.lease())).toList());
		}

	}

	/** Reports that the lock is retained without a request to the server. */
	static class ReportsRetainWithoutRetaining extends Wire {

		ReportsRetainWithoutRetaining(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
			return CompletableFuture.completedStage(true);
		}

	}

	/** Releases a lock that it should retain. */
	static class ReleasesInsteadOfRetaining extends Wire {

		ReleasesInsteadOfRetaining(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
			return release(grant).thenApply(Released.class::isInstance);
		}

	}

	/** Abandons a claim without a request to the server. */
	static class IgnoresAbandon extends Wire {

		IgnoresAbandon(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return CompletableFuture.completedStage(null);
		}

	}

	/** Silently requests something else than the claim says. */
	static class ChangesClaims extends Wire {

		private final UnaryOperator<Claim> change;

		ChangesClaims(Server server, UnaryOperator<Claim> change) {
			super(server);
			this.change = change;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(this.change.apply(claim)).thenApply((result) -> {
				if (result instanceof Acquired acquired) {
					Grant grant = acquired.grant();
					return new Acquired(
							new Grant(claim, grant.storeToken(), claim.leaseTime(), grant.revoked(), grant.wanted()));
				}
				return result;
			});
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return super.renew(grants.stream().map(this::changed).toList());
		}

		@Override
		public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
			return super.retain(changed(grant), remaining);
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return super.release(changed(grant));
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return super.abandon(this.change.apply(claim));
		}

		@Override
		public CompletionStage<LockState> find(LockName lock) {
			Claim any = new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofMinutes(1), false,
					Duration.ZERO, false);
			return super.find(this.change.apply(any).lock())
				.thenApply((state) -> new LockState(lock, name(), state.holders(), state.waiters()));
		}

		private Grant changed(Grant grant) {
			Claim claim = this.change.apply(grant.claim());
			return new Grant(claim, grant.storeToken(), claim.leaseTime());
		}

	}

	/** Replaces the tokens of its grants with its own. */
	static class Renumbers extends Wire {

		private final Map<OwnerId, Grant> originals = new ConcurrentHashMap<>();

		private final UnaryOperator<Long> numbering;

		Renumbers(Server server, UnaryOperator<Long> numbering) {
			super(server);
			this.numbering = numbering;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenApply((result) -> {
				if (result instanceof Acquired acquired) {
					Grant grant = acquired.grant();
					this.originals.put(claim.owner(), grant);
					return new Acquired(new Grant(grant.claim(), this.numbering.apply(grant.storeToken()),
							grant.lease(), grant.revoked(), grant.wanted()));
				}
				return result;
			});
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return super.renew(grants.stream().map(this::original).toList());
		}

		@Override
		public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
			return super.retain(original(grant), remaining);
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return super.release(original(grant));
		}

		private Grant original(Grant grant) {
			return this.originals.getOrDefault(grant.claim().owner(), grant);
		}

	}

	/** Reports a missing response as contended. */
	static class ReportsUnansweredAsContended extends Wire {

		ReportsUnansweredAsContended(Server server) {
			super(server);
		}

		@Override
		AcquireResult unanswered(Claim claim) {
			return new Contended(new CompletableFuture<>(), Duration.ofMillis(10));
		}

	}

	/** Hides from the holder of a sticky lease that others want it. */
	static class IgnoresDemand extends Wire {

		IgnoresDemand(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim)
				.thenApply((result) -> (result instanceof Acquired acquired && acquired.grant().sticky())
						? new Acquired(acquired.grant().withDemand(new CompletableFuture<>())) : result);
		}

	}

	/** Loses the signals that are due when a waiter withdraws its claim. */
	static class DropsTheSignal extends Wire {

		private static final ThreadLocal<Boolean> DROPPING = ThreadLocal.withInitial(() -> false);

		DropsTheSignal(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenApply((result) -> {
				if (result instanceof Contended contended) {
					CompletableFuture<Void> forwarded = new CompletableFuture<>();
					contended.signal().thenRun(() -> forwardSignal(forwarded));
					return new Contended(forwarded, contended.retryAfter(), contended.demanded());
				}
				return result;
			});
		}

		private static void forwardSignal(CompletableFuture<Void> signal) {
			if (!DROPPING.get()) {
				signal.complete(null);
			}
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			DROPPING.set(!server().latest().get(claim.lock()).claim().owner().equals(claim.owner()));
			try {
				return super.abandon(claim);
			}
			finally {
				DROPPING.remove();
			}
		}

	}

	/** Refuses an owner that repeats its request. */
	static class RefusesARetryOfItsOwner extends Wire {

		RefusesARetryOfItsOwner(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			Grant latest = server().latest().get(claim.lock());
			if (latest != null && latest.claim().owner().equals(claim.owner())) {
				return CompletableFuture
					.completedStage(new Contended(new CompletableFuture<>(), Duration.ofMillis(10)));
			}
			return super.tryAcquire(claim);
		}

	}

	/** Reports every lock as free. */
	static class HidesHolders extends Wire {

		HidesHolders(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<LockState> find(LockName lock) {
			return CompletableFuture.completedStage(new LockState(lock, name(), List.of(), 0));
		}

	}

	/** Reports that no claim waits. */
	static class HidesWaiters extends Wire {

		HidesWaiters(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<LockState> find(LockName lock) {
			return super.find(lock).thenApply((state) -> new LockState(lock, name(), state.holders(), 0));
		}

	}

	/** Revokes the present holder, whichever one was meant. */
	static class RevokesTheSuccessor extends Wire {

		RevokesTheSuccessor(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
			return server().store().abandon(server().latest().get(lock).claim()).thenApply((done) -> true);
		}

	}

	/** Does not notice the end of its session. */
	static class IgnoresSessionEnd extends Wire {

		IgnoresSessionEnd(Server server) {
			super(server);
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenApply((result) -> {
				if (result instanceof Acquired acquired) {
					Grant grant = acquired.grant();
					return new Acquired(new Grant(grant.claim(), grant.storeToken(), grant.lease(),
							new CompletableFuture<>(), grant.wanted()));
				}
				return result;
			});
		}

	}

}
