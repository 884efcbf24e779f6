package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SharedAttempt;
import io.holdfast.lock.support.Stages;

/**
 * Connects to Redis and checks it. A client that is not connected yet connects on the
 * first calling thread and blocks every other caller. The connector therefore uses a
 * dedicated thread.
 */
final class RedisConnector {

	private static final GuardedLog logger = GuardedLog.of(RedisConnector.class);

	/**
	 * Upper bound for connecting; longer than the connect timeout of any client should
	 * be.
	 */
	private static final Duration LONGEST_CONNECT = Duration.ofSeconds(15);

	private final SharedAttempt<Void> connection = new SharedAttempt<>(
			() -> Stages.attemptOn("holdfast-redis-connect", this::probe));

	private final RedisScripts scripts;

	private final ReleaseNotifications notifications;

	private final RedisErrors errors;

	private final RedisLockOptions options;

	RedisConnector(RedisScripts scripts, ReleaseNotifications notifications, RedisErrors errors,
			RedisLockOptions options) {
		this.scripts = scripts;
		this.notifications = notifications;
		this.errors = errors;
		this.options = options;
	}

	boolean isConnected() {
		return this.connection.hasSucceeded();
	}

	/**
	 * Connects, checks Redis and subscribes to release notifications. A failure throws an
	 * exception with a remedy.
	 */
	void verify() {
		try {
			Stages.await(connect(), LONGEST_CONNECT);
			Stages.await(this.notifications.subscribe(), this.options.responseTimeout());
		}
		catch (ExecutionException | TimeoutException ex) {
			throw this.errors.unreachable(ex);
		}
	}

	/**
	 * Connects unless this has succeeded before. Concurrent callers share one attempt.
	 * @return completes when Redis has answered, and fails if it has not
	 */
	CompletionStage<Void> connect() {
		return this.connection.get();
	}

	private CompletionStage<Void> probe() {
		RedisKeys keys = RedisKeys.of(this.options.namespace(), LockName.of("probe", this.notifications.instance()));
		return ask(keys, this.notifications.instance(), this.notifications.channels() + "probe")
			.thenAccept((answer) -> warnOfEviction(String.valueOf(answer.get(0))));
	}

	/** Runs the probe. Missing replicas do not fail it, but a rejected WAIT does. */
	private CompletionStage<List<Object>> ask(RedisKeys keys, Object... args) {
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(RedisScript.PROBE, keys, args);
		}
		return this.scripts.runReplicated(RedisScript.PROBE, new Call(keys.asList(), args)).thenCompose((answer) -> {
			Throwable failure = answer.failure();
			warnOfMissingReplicas(answer.replicas());
			return (failure != null && RedisErrors.definiteCode(failure) != null)
					? CompletableFuture.failedFuture(failure) : CompletableFuture.completedFuture(answer.value());
		});
	}

	private void warnOfMissingReplicas(int confirmed) {
		if (confirmed < this.options.waitReplicas()) {
			logger.warn(
					"No lock can currently be acquired in Redis at %s: 'distributed-lock.redis.wait-replicas' is %s, but %s replicas confirmed a write. Connect the replicas, or lower the value."
						.formatted(this.options.server(), this.options.waitReplicas(), confirmed));
		}
	}

	private void warnOfEviction(String policy) {
		if (!policy.isEmpty() && !policy.equals("noeviction")) {
			logger.warn(
					"Redis at %s may evict locks when its memory is full: its maxmemory-policy is '%s', and every lock has an expiry. An evicted lock can have two holders. Set 'noeviction', or use a separate Redis for locks."
						.formatted(this.options.server(), policy));
		}
	}

}
