package io.holdfast.lock.backend.redis;

import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of Redis for Lettuce, and the resources and options that it shares with
 * another client, such as that of the application.
 *
 * @param uris one server, one master with its sentinels, or the known nodes of a Cluster;
 * with credentials. Its client sets their name and timeout
 * @param cluster whether Redis is a Cluster
 * @param resources threads, timers and name resolution that another client also uses, or
 * {@code null} for own ones
 * @param options the options of the application's client, such as those of TLS and of its
 * sockets, or {@code null} for the defaults
 */
public record LettuceServers(List<RedisURI> uris, boolean cluster, @Nullable ClientResources resources,
		@Nullable ClientOptions options) {

	/** Omits secrets. */
	@Override
	public String toString() {
		return "LettuceServers[count=%s, cluster=%s]".formatted(this.uris.size(), this.cluster);
	}

}
