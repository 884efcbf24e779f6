package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of locks in Redis.
 *
 * @param address Address of a single Redis, such as 'redis://127.0.0.1:6379' or, with
 * TLS, 'rediss://127.0.0.1:6379'. If absent, a RedissonClient bean is used, else
 * 'spring.data.redis'.
 * @param username User to log in as at the address.
 * @param password Password to log in with at the address.
 * @param database Number of the database at the address.
 * @param connectionTimeout Longest wait for a connection, also of 'spring.data.redis'.
 * @param waitReplicas How many replicas must have a lock before it counts as held.
 * @param waitReplicasTimeout Longest wait for the replicas.
 * @param ssl TLS to the address.
 */
@ConfigurationProperties("distributed-lock.redis")
record RedisLockProperties(@Nullable String address, @Nullable String username, @Nullable String password,
		@DefaultValue("0") int database, @DefaultValue("2s") Duration connectionTimeout,
		@DefaultValue("0") int waitReplicas, @DefaultValue("500ms") Duration waitReplicasTimeout,
		@DefaultValue Ssl ssl) {

	/** Leaves out whatever may be secret. */
	@Override
	public String toString() {
		String shown = (this.address != null) ? RedisAddress.redacted(this.address) : null;
		return "RedisLockProperties[address=%s, database=%s, connectionTimeout=%s, waitReplicas=%s, waitReplicasTimeout=%s, ssl=%s]"
			.formatted(shown, this.database, this.connectionTimeout, this.waitReplicas, this.waitReplicasTimeout,
					this.ssl);
	}

	/**
	 * TLS to the address.
	 *
	 * @param bundle Name of the SSL bundle to use. If absent, the JVM's trust store.
	 */
	record Ssl(@Nullable String bundle) {
	}

}
