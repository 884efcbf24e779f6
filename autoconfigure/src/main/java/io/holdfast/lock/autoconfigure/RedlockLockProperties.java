package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Settings of locks on several independent Redis masters.
 *
 * @param nodes Addresses of the masters, an odd number of at least three, such as
 * 'redis://10.0.0.1:6379', or 'rediss://10.0.0.1:6379' for TLS.
 * @param client Library that connects to the nodes. By default, Redisson if it is on the
 * class path, otherwise Lettuce.
 * @param username Login username for nodes whose address has none.
 * @param password Login password for nodes whose address has none.
 * @param connectionTimeout Maximum time to wait for a connection.
 * @param nodeTimeout Time after which a node that has not responded is left out of a
 * vote. Should be far above a round trip and far below a lease.
 * @param driftFactor Ratio of a lease by which clocks may differ in speed. Values below
 * 0.01 count as 0.01.
 * @param restartQuarantine Whether a node that is new, was restarted or was flushed may
 * not vote until every earlier lock has expired.
 * @param quarantineWait Maximum time to wait at startup until enough quarantined nodes
 * may vote. If they need longer, the application starts without waiting and locks fail
 * meanwhile.
 * @param longestLease Longest lease of all applications that use these nodes. Defaults to
 * this application's lease time; longer leases that it observes count as well.
 * @param ssl TLS to the nodes.
 */
@ConfigurationProperties("distributed-lock.redlock")
record RedlockLockProperties(@DefaultValue List<String> nodes, @DefaultValue("auto") RedisClientLibrary client,
		@Nullable String username, @Nullable String password, @DefaultValue("2s") Duration connectionTimeout,
		@DefaultValue("50ms") Duration nodeTimeout, @DefaultValue("0.01") double driftFactor,
		@DefaultValue("true") boolean restartQuarantine, @DefaultValue("1m") Duration quarantineWait,
		@Nullable Duration longestLease, @NestedConfigurationProperty @DefaultValue LockSsl ssl) {

	RedlockLockProperties {
		username = RedisLogin.emptyToNull(username);
		password = RedisLogin.emptyToNull(password);
		requireNotNegative("quarantine-wait", quarantineWait);
		requireNotNegative("longest-lease", longestLease);
	}

	private static void requireNotNegative(String name, @Nullable Duration value) {
		if (value != null && value.isNegative()) {
			throw new LockConfigurationException("The property 'distributed-lock.redlock.%s' is %s. Set zero or more."
				.formatted(name, DurationText.of(value)));
		}
	}

	/** Omits secrets. */
	@Override
	public String toString() {
		return "RedlockLockProperties[nodes=%s, client=%s, connectionTimeout=%s, nodeTimeout=%s, driftFactor=%s, restartQuarantine=%s, quarantineWait=%s, longestLease=%s, ssl=%s]"
			.formatted(this.nodes.stream().map(RedisAddress::redacted).toList(), this.client, this.connectionTimeout,
					this.nodeTimeout, this.driftFactor, this.restartQuarantine, this.quarantineWait, this.longestLease,
					this.ssl);
	}

}
