package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
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
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Lock backend for Redis. One script acquires a lock and assigns its token, another
 * releases it. A contended claim enters the wait queue in the same request and is
 * notified over one channel per JVM. Supports shared and fair claims.
 *
 * <p>
 * Thread-safe. Does not block the caller, except in {@link #verify()} and
 * {@link #close()}.
 */
public final class RedisLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "redis";

	private static final GuardedLog logger = GuardedLog.of(RedisLockBackend.class);

	/** Expiry is exact to 1 ms, but a usual round trip would use up a shorter lease. */
	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE, Capability.DEMAND);

	private static final BackendCapabilities ORDERED = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE, Capability.DEMAND, Capability.ORDERED);

	private final ScriptClient client;

	private final RedisLockOptions options;

	private final RedisScripts scripts;

	private final ReleaseNotifications notifications;

	private final RedisErrors errors;

	private final RedisClaims claims;

	private final RedisRenewals renewals;

	private final RedisConnector connector;

	private final RedisLookup lookup;

	private final Runnable stopClock;

	/** Claims that wait for the first connection; always empty after that. */
	private final Set<OwnerId> unsent = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the backend. Sends no request.
	 * @param client the client, which {@link #close()} closes
	 * @param options how locks are kept
	 */
	public RedisLockBackend(ScriptClient client, RedisLockOptions options) {
		this(client, options, new SystemSchedulingClock("holdfast-redis-timer"));
	}

	private RedisLockBackend(ScriptClient client, RedisLockOptions options, SystemSchedulingClock clock) {
		this(client, options, clock, clock::close);
	}

	/**
	 * Creates the backend with a given clock. Sends no request.
	 * @param clock runs timeouts
	 * @param stopClock called when the backend is closed
	 */
	RedisLockBackend(ScriptClient client, RedisLockOptions options, SchedulingClock clock, Runnable stopClock) {
		this.stopClock = stopClock;
		this.client = client;
		this.options = options;
		this.scripts = new RedisScripts(client, options);
		this.notifications = new ReleaseNotifications(client, options.namespace());
		this.errors = new RedisErrors(options);
		this.claims = new RedisClaims(this.scripts, this.notifications, this.errors, options);
		this.renewals = new RedisRenewals(this.scripts, this.errors, options, clock);
		this.connector = new RedisConnector(this.scripts, this.notifications, this.errors, options);
		this.lookup = new RedisLookup(this.scripts, options);
	}

	/**
	 * Connects, checks that Redis permits everything that locks need, and subscribes to
	 * release notifications. Without this call, the first use does so.
	 * @throws LockBackendException if Redis cannot be reached
	 * @throws LockConfigurationException if Redis rejects what locks need
	 */
	public void verify() {
		this.connector.verify();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.client.isOrdered() ? ORDERED : CAPABILITIES;
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.client.answersOn(thread);
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		this.unsent.add(claim.owner());
		return guarded(() -> {
			if (!this.unsent.remove(claim.owner())) {
				// The claim was withdrawn while the client was connecting. A grant would
				// have no holder
				return CompletableFuture.failedStage(new CancellationException("The claim was withdrawn"));
			}
			return this.claims.send(claim);
		}).exceptionallyCompose((failure) -> {
			this.unsent.remove(claim.owner());
			if (RedisErrors.definiteCode(failure) != null) {
				return CompletableFuture
					.failedFuture(this.errors.refused("could not be acquired", claim.lock(), failure));
			}
			return CompletableFuture.completedStage(new AcquireResult.Indeterminate(this.errors.unreachable(failure)));
		});
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return guarded(() -> this.renewals.renew(grants)).thenApply((results) -> {
			for (int i = 0; i < grants.size(); i++) {
				if (results.get(i) instanceof RenewResult.Refused) {
					this.notifications.forgetAll(grants.get(i).claim().owner());
				}
			}
			return results;
		})
			.exceptionally((failure) -> grants.stream()
				.map((grant) -> this.renewals.unknown(grant.claim().lock(), failure))
				.toList());
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		LockName lock = grant.claim().lock();
		this.notifications.forgetAll(grant.claim().owner());
		return guarded(() -> this.scripts.run(RedisScript.RELEASE, keys(lock), RedisKeys.value(grant),
				this.notifications.channels(), RedisTimes.IDLE_TOKEN_MILLIS, this.notifications.instance()))
			.<ReleaseResult>thenApply(
					(value) -> ((Long) value.get(0) == 1) ? new ReleaseResult.Released() : new ReleaseResult.NotHeld())
			.exceptionallyCompose((failure) -> (RedisErrors.definiteCode(failure) != null)
					? CompletableFuture.failedFuture(this.errors.refused("could not be released", lock, failure))
					: CompletableFuture.completedStage(new ReleaseResult.Indeterminate(Stages.cause(failure))));
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		this.unsent.remove(claim.owner());
		this.notifications.forgetAll(claim.owner());
		return guarded(() -> this.scripts.run(RedisScript.ABANDON, keys(claim.lock()), claim.owner().value(),
				this.notifications.channels(), RedisTimes.IDLE_TOKEN_MILLIS))
			.<Void>thenApply((value) -> null)
			.exceptionallyCompose((failure) -> CompletableFuture
				.failedFuture(this.errors.refused("could not be withdrawn", claim.lock(), failure)));
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return guarded(() -> this.lookup.find(lock))
			.exceptionallyCompose((failure) -> CompletableFuture.failedStage(this.errors.unread(lock, failure)));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return guarded(() -> this.lookup.status(this.notifications.instance(), this.notifications.channels()))
			.exceptionallyCompose((failure) -> CompletableFuture.failedStage(this.errors.unreachable(failure)));
	}

	/** Returns how many claims wait for a notification in this JVM. */
	int waiting() {
		return this.notifications.size();
	}

	/**
	 * Unsubscribes, and closes the client.
	 */
	@Override
	public void close() {
		this.stopClock.run();
		try {
			this.notifications.close()
				.toCompletableFuture()
				.get(this.options.responseTimeout().toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (Exception ex) {
			logger.debug("Failed to unsubscribe; the subscription ends with its connection", ex);
		}
		this.client.close();
	}

	@Override
	public String toString() {
		return "RedisLockBackend[" + this.options.server() + "]";
	}

	/** Runs a request after the first connection. Exceptions fail the stage. */
	private <T> CompletionStage<T> guarded(Supplier<CompletionStage<T>> request) {
		return Stages.attempt(() -> this.connector.isConnected() ? request.get()
				: this.connector.connect().thenCompose((nothing) -> request.get()));
	}

	private RedisKeys keys(LockName lock) {
		return RedisKeys.of(this.options.namespace(), lock);
	}

}
