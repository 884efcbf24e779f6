package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;

/**
 * Answers the questions of operators about locks in Redis, and about Redis itself.
 *
 * @param scripts runs the scripts
 * @param options how locks are kept
 */
record RedisLookup(RedisScripts scripts, RedisLockOptions options) {

	/** The elements of each holder in the answer of the script. */
	private static final int PER_HOLDER = 3;

	/** Fails with a {@link NumberFormatException} if a key holds other data. */
	CompletionStage<LockState> find(LockName lock) {
		return this.scripts.run(RedisScript.FIND, RedisKeys.of(this.options.namespace(), lock))
			.thenApply((answer) -> state(lock, answer));
	}

	private static LockState state(LockName lock, List<Object> answer) {
		List<LockState.Holder> holders = new ArrayList<>();
		for (int i = 1; i < answer.size(); i += PER_HOLDER) {
			holders.add(holder((String) answer.get(i), (String) answer.get(i + 1), (Long) answer.get(i + 2)));
		}
		return new LockState(lock, RedisLockBackend.NAME, holders, Math.toIntExact((Long) answer.get(0)));
	}

	private static LockState.Holder holder(String mode, String grant, long restMillis) {
		int colon = grant.lastIndexOf(':');
		FencingToken token = Grant.fencingTokenOf(Long.parseLong(grant.substring(colon + 1)));
		return new LockState.Holder(grant.substring(0, Math.max(0, colon)), LockMode.valueOf(mode), token,
				Duration.ofMillis(Math.max(0, restMillis)));
	}

	/** Runs all commands that locks need, so that a replica or a full Redis fails. */
	CompletionStage<StoreStatus> status(String instance, String channels) {
		String channel = channels + "probe";
		RedisKeys keys = RedisKeys.of(this.options.namespace(), LockName.of("probe", instance));
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(RedisScript.PROBE, keys, instance, channel)
				.thenApply((answer) -> StoreStatus.available(Map.of("server", this.options.server())));
		}
		return this.scripts.runReplicated(RedisScript.PROBE, new Call(keys.asList(), instance, channel))
			.thenApply((answer) -> {
				Map<String, Object> details = Map.of("server", this.options.server(), "replicas", answer.replicas(),
						"requiredReplicas", this.options.waitReplicas());
				return (answer.replicas() < this.options.waitReplicas()) ? StoreStatus.unavailable(details)
						: StoreStatus.available(details);
			});
	}

}
