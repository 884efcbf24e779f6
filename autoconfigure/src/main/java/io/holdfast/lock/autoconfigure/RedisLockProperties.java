package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;

/**
 * Settings of locks in Redis.
 *
 * @param address Address of a single Redis, such as 'redis://127.0.0.1:6379', or
 * 'rediss://127.0.0.1:6379' for TLS. Defaults to a RedissonClient bean, then to the
 * Lettuce of Spring Data Redis, then to 'spring.data.redis'.
 * @param client Library that connects to Redis. By default, the one that the application
 * uses.
 * @param username Login username for the address.
 * @param password Login password for the address.
 * @param database Database index at the address.
 * @param connectionTimeout Maximum time to wait for a connection, also with
 * 'spring.data.redis'.
 * @param waitReplicas Number of replicas that must have received a lock before it counts
 * as held.
 * @param waitReplicasTimeout Maximum time to wait for the replicas.
 * @param ssl TLS to the address.
 */
@ConfigurationProperties("distributed-lock.redis")
record RedisLockProperties(@Nullable String address, @DefaultValue("auto") RedisClientLibrary client,
		@Nullable String username, @Nullable String password, @DefaultValue("0") int database,
		@DefaultValue("2s") Duration connectionTimeout, @DefaultValue("0") int waitReplicas,
		@DefaultValue("500ms") Duration waitReplicasTimeout, @NestedConfigurationProperty @DefaultValue LockSsl ssl) {

	RedisLockProperties {
		username = RedisLogin.emptyToNull(username);
		password = RedisLogin.emptyToNull(password);
		if (database < 0) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.redis.database' is %s. Set the index of a database, such as 0."
						.formatted(database));
		}
	}

	/** Omits secrets. */
	@Override
	public String toString() {
		String shown = (this.address != null) ? RedisAddress.redacted(this.address) : null;
		return "RedisLockProperties[address=%s, client=%s, database=%s, connectionTimeout=%s, waitReplicas=%s, waitReplicasTimeout=%s, ssl=%s]"
			.formatted(shown, this.client, this.database, this.connectionTimeout, this.waitReplicas,
					this.waitReplicasTimeout, this.ssl);
	}

}
