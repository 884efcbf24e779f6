package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.backend.redis.ScriptClient.Replicated;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.Stages;

/**
 * Sends claims to Redis and interprets its answers.
 *
 * @param scripts runs the script
 * @param notifications notifies waiting claims, and sticky leases that are demanded
 * @param errors describes failures
 * @param options how locks are kept
 */
record RedisClaims(RedisScripts scripts, ReleaseNotifications notifications, RedisErrors errors,
		RedisLockOptions options) {

	/**
	 * Makes one attempt. Both signals exist before the request is sent: a notification
	 * may overtake the answer.
	 */
	CompletionStage<AcquireResult> send(Claim claim) {
		boolean waits = RedisTimes.waits(claim);
		CompletionStage<ReleaseNotice> signal = waits ? this.notifications.expect(claim.owner()) : null;
		if (!waits) {
			this.notifications.forget(claim.owner());
		}
		CompletionStage<?> wanted = claim.sticky() ? this.notifications.expectDemand(claim.owner()) : null;
		return Stages.attempt(() -> ask(claim, wanted != null))
			.thenApply((answer) -> answered(claim, signal, wanted, answer))
			.whenComplete((result, failure) -> {
				// the engine may not withdraw a claim that failed definitely
				if (failure != null && RedisErrors.definiteCode(failure) != null) {
					this.notifications.forgetAttempt(claim.owner(), signal);
				}
			});
	}

	private CompletionStage<Replicated> ask(Claim claim, boolean sticky) {
		List<Object> args = new ArrayList<>(List.of(claim.owner().value(), RedisTimes.millis(RedisTimes.lease(claim)),
				RedisTimes.positionMillis(claim), this.notifications.instance(), RedisTimes.IDLE_TOKEN_MILLIS,
				claim.mode().name(), claim.fair() ? "1" : "0", this.notifications.isCounted() ? "1" : "0"));
		if (sticky) {
			args.add(this.notifications.channels() + this.notifications.instance());
		}
		RedisKeys keys = RedisKeys.of(this.options.namespace(), claim.lock());
		if (this.options.waitReplicas() > 0) {
			return this.scripts.runReplicated(RedisScript.ACQUIRE, new Call(keys.asList(), args.toArray()));
		}
		return this.scripts.run(RedisScript.ACQUIRE, keys, args.toArray())
			.thenApply((value) -> new Replicated(value, 0, null));
	}

	private AcquireResult answered(Claim claim, @Nullable CompletionStage<ReleaseNotice> signal,
			@Nullable CompletionStage<?> wanted, Replicated answer) {
		long number = (Long) answer.value().get(1);
		if ((Long) answer.value().get(0) == 0) {
			return rejected(claim, signal, wanted, answer.value());
		}
		if (answer.replicas() < this.options.waitReplicas()) {
			// A failover could lose this grant, so it does not count. It stays in Redis
			// until the claim is retried or abandoned. A release sent from here could
			// arrive after a later attempt of the same owner was granted and confirmed
			return new AcquireResult.Indeterminate(this.errors.unconfirmed(claim.lock(), answer));
		}
		this.notifications.forget(claim.owner());
		if (answer.value().size() > 2) {
			this.notifications.demand(claim.owner().value());
		}
		Grant grant = new Grant(claim, number, RedisTimes.lease(claim));
		return new AcquireResult.Acquired((wanted != null) ? grant.withDemand(wanted) : grant);
	}

	/**
	 * Replicas have not confirmed that a release keeps the lock for the claim, so it asks
	 * again if they have to.
	 */
	private AcquireResult rejected(Claim claim, @Nullable CompletionStage<ReleaseNotice> signal,
			@Nullable CompletionStage<?> wanted, List<Object> answer) {
		Duration retryAfter = RedisTimes.retryAfter((Long) answer.get(1));
		boolean demanded = answer.size() > 4;
		if (signal != null) {
			CompletionStage<?> news = (this.options.waitReplicas() == 0)
					? signal.thenApply(
							(notice) -> notice.keptFor(claim, wanted, (Long) answer.get(3), (Long) answer.get(2)))
					: signal;
			return new AcquireResult.Contended(news, retryAfter, demanded);
		}
		this.notifications.forgetAll(claim.owner());
		return AcquireResult.Contended.polled(retryAfter, demanded);
	}

}
