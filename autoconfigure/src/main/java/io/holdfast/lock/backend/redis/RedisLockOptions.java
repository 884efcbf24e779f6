package io.holdfast.lock.backend.redis;

import java.time.Duration;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Options for locks in Redis.
 *
 * @param namespace prefix of every key and channel; without braces, because on a Cluster
 * these decide the slot
 * @param responseTimeout time after which the outcome of an unanswered request counts as
 * unknown
 * @param waitReplicas number of replicas that must have a grant before it counts; zero
 * for none
 * @param waitReplicasTimeout longest wait for these replicas
 * @param server the server's address in messages, without credentials
 */
public record RedisLockOptions(String namespace, Duration responseTimeout, int waitReplicas,
		Duration waitReplicasTimeout, String server) {

	/**
	 * Validates the values.
	 * @throws LockConfigurationException if one of them can never work
	 */
	public RedisLockOptions {
		require(!namespace.isBlank() && namespace.indexOf('{') < 0 && namespace.indexOf('}') < 0,
				"'distributed-lock.namespace' is '%s', which is not a valid prefix of Redis keys. Set a value that is not blank and contains no braces."
					.formatted(namespace));
		require(responseTimeout.toMillis() > 0, "'distributed-lock.response-timeout' is %s. Set at least 1ms."
			.formatted(DurationText.of(responseTimeout)));
		require(waitReplicas >= 0,
				"'distributed-lock.redis.wait-replicas' is %s. Set 0 for none, or a number of replicas."
					.formatted(waitReplicas));
		require(waitReplicas == 0 || waitReplicasTimeout.toMillis() > 0,
				"'distributed-lock.redis.wait-replicas-timeout' is %s. Set at least 1ms."
					.formatted(DurationText.of(waitReplicasTimeout)));
	}

	private static void require(boolean condition, String message) {
		if (!condition) {
			throw new LockConfigurationException(message);
		}
	}

}
