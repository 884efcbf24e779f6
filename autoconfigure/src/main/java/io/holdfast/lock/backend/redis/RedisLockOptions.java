package io.holdfast.lock.backend.redis;

import java.time.Duration;

import io.holdfast.lock.LockConfigurationException;

/**
 * How locks are kept in Redis.
 *
 * @param namespace prefix of every key and channel; without braces, which would decide
 * the slot on a cluster
 * @param responseTimeout time after which an unanswered request counts as of unknown
 * outcome
 * @param waitReplicas how many replicas must have a grant before it counts; zero for none
 * @param waitReplicasTimeout how long to wait for them
 * @param server the server as messages name it: an address without credentials
 */
public record RedisLockOptions(String namespace, Duration responseTimeout, int waitReplicas,
		Duration waitReplicasTimeout, String server) {

	/**
	 * Check the values.
	 * @throws LockConfigurationException if one of them can never work
	 */
	public RedisLockOptions {
		require(!namespace.isBlank() && namespace.indexOf('{') < 0 && namespace.indexOf('}') < 0,
				"'distributed-lock.namespace' is '%s', which cannot begin a key in Redis. Set a text without braces."
					.formatted(namespace));
		require(responseTimeout.toMillis() > 0,
				"'distributed-lock.response-timeout' is %s. Set at least 1ms.".formatted(responseTimeout));
		require(waitReplicas >= 0,
				"'distributed-lock.redis.wait-replicas' is %s. Set 0 for none, or a number of replicas."
					.formatted(waitReplicas));
		require(waitReplicas == 0 || waitReplicasTimeout.toMillis() > 0,
				"'distributed-lock.redis.wait-replicas-timeout' is %s. Set at least 1ms."
					.formatted(waitReplicasTimeout));
	}

	private static void require(boolean condition, String message) {
		if (!condition) {
			throw new LockConfigurationException(message);
		}
	}

}
