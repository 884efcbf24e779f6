package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.backend.redis.ScriptClient.Replicated;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Renews many leases in few pipelines, so that no lease suffers from a failure of
 * another.
 */
final class RedisRenewals {

	private final RedisScripts scripts;

	private final RedisErrors errors;

	private final RedisLockOptions options;

	private final SchedulingClock clock;

	RedisRenewals(RedisScripts scripts, RedisErrors errors, RedisLockOptions options, SchedulingClock clock) {
		this.scripts = scripts;
		this.errors = errors;
		this.options = options;
		this.clock = clock;
	}

	CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		List<CompletableFuture<RenewResult>> results = new ArrayList<>(grants.size());
		List<CompletionStage<Replicated>> answers = sendRenewals(grants);
		for (int i = 0; i < answers.size(); i++) {
			Grant grant = grants.get(i);
			results
				.add(answers.get(i).handle((answer, failure) -> renewed(grant, answer, failure)).toCompletableFuture());
		}
		CompletableFuture<List<RenewResult>> all = Stages.all(results);
		if (this.scripts.severalNodes()) {
			Runnable cancel = answerInTime(results, RedisTimes.renewalTimeout(grants, this.options.responseTimeout()));
			all.whenComplete((done, failure) -> cancel.run());
		}
		return all;
	}

	/**
	 * Completes missing results in time, so that an unresponsive node does not delay the
	 * results of the others.
	 * @return cancels the timer
	 */
	private Runnable answerInTime(List<CompletableFuture<RenewResult>> results, Duration timeout) {
		return this.clock.after(timeout.toNanos(), () -> results.forEach((result) -> result
			.complete(new RenewResult.Indeterminate(new TimeoutException("The node of this lock did not respond")))));
	}

	private List<CompletionStage<Replicated>> sendRenewals(List<Grant> grants) {
		List<Call> calls = grants.stream().map(this::call).toList();
		if (this.options.waitReplicas() > 0) {
			// A pipeline has one count of confirming replicas, but each lock needs its
			// own
			return calls.stream().map((call) -> this.scripts.runReplicated(RedisScript.RENEW, call)).toList();
		}
		return this.scripts.runAll(RedisScript.RENEW, calls)
			.stream()
			.map((stage) -> stage.thenApply((value) -> new Replicated(value, 0, null)))
			.toList();
	}

	private Call call(Grant grant) {
		Claim claim = grant.claim();
		RedisKeys keys = RedisKeys.of(this.options.namespace(), claim.lock());
		return new Call(List.of(keys.grants(claim.mode())), RedisKeys.value(grant),
				RedisTimes.millis(RedisTimes.lease(claim)), claim.mode().name());
	}

	/** Returns the result of a renewal that has failed. */
	RenewResult unknown(LockName lock, Throwable failure) {
		return new RenewResult.Indeterminate((RedisErrors.definiteCode(failure) != null)
				? this.errors.refused("could not be renewed", lock, failure) : this.errors.unreachable(failure));
	}

	private RenewResult renewed(Grant grant, @Nullable Replicated answer, @Nullable Throwable failure) {
		LockName lock = grant.claim().lock();
		if (answer == null) {
			return unknown(lock, (failure != null) ? failure : new IllegalStateException("No response"));
		}
		if ((Long) answer.value().get(0) == 0) {
			return new RenewResult.Refused();
		}
		if (answer.replicas() < this.options.waitReplicas()) {
			return new RenewResult.Indeterminate(this.errors.unconfirmed(lock, answer));
		}
		return new RenewResult.Renewed(RedisTimes.lease(grant.claim()));
	}

}
