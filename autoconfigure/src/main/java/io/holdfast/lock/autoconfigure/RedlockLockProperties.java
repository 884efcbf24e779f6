package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of locks on several independent Redis masters.
 *
 * @param nodes Addresses of the masters, an odd number from three on, such as
 * 'redis://10.0.0.1:6379' or, with TLS, 'rediss://10.0.0.1:6379'.
 * @param username User to log in as at nodes whose address names none.
 * @param password Password to log in with at nodes whose address has none.
 * @param connectionTimeout Longest wait for a connection.
 * @param nodeTimeout Time after which a node that has not answered is left out of a vote.
 * Far above a round trip and far below a lease.
 * @param driftFactor Share of a lease by which clocks may differ in speed; at least 0.01
 * is counted.
 * @param restartQuarantine Whether a node that is new, has restarted or was flushed is
 * kept out of votes until every earlier lock has ended.
 * @param quarantineWait Longest wait at the start of the application until nodes that
 * remember nothing of earlier locks may vote, if there is no majority without them. If it
 * would take longer, the start does not wait and locks fail meanwhile.
 * @param longestLease The longest lease of any application that uses these nodes. If
 * absent, the default lease of this one; longer ones that are seen count too.
 * @param ssl TLS to the nodes.
 */
@ConfigurationProperties("distributed-lock.redlock")
record RedlockLockProperties(@DefaultValue List<String> nodes, @Nullable String username, @Nullable String password,
		@DefaultValue("2s") Duration connectionTimeout, @DefaultValue("50ms") Duration nodeTimeout,
		@DefaultValue("0.01") double driftFactor, @DefaultValue("true") boolean restartQuarantine,
		@DefaultValue("1m") Duration quarantineWait, @Nullable Duration longestLease, @DefaultValue Ssl ssl) {

	/** Leaves out whatever may be secret. */
	@Override
	public String toString() {
		return "RedlockLockProperties[nodes=%s, connectionTimeout=%s, nodeTimeout=%s, driftFactor=%s, restartQuarantine=%s, quarantineWait=%s, longestLease=%s, ssl=%s]"
			.formatted(this.nodes.stream().map(RedisAddress::redacted).toList(), this.connectionTimeout,
					this.nodeTimeout, this.driftFactor, this.restartQuarantine, this.quarantineWait, this.longestLease,
					this.ssl);
	}

	/**
	 * TLS to the nodes.
	 *
	 * @param bundle Name of the SSL bundle to use. If absent, the JVM's trust store.
	 */
	record Ssl(@Nullable String bundle) {
	}

}
