package io.holdfast.lock.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.MasterReplica;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.autoconfigure.RedisClients.Settings;

/**
 * Creates a client for locks from Spring Boot's connection details of the application's
 * Redis. It is a separate class so that Boot's Redis module may be absent.
 */
final class SpringDataRedisClients {

	private static final String SOURCE = "'spring.data.redis'";

	private SpringDataRedisClients() {
	}

	/**
	 * Creates a client, or returns {@code null} if there are no connection details.
	 */
	static @Nullable RedisClient create(RedisClients clients, BeanFactory beanFactory) {
		DataRedisConnectionDetails details = RedisClientSelection.theOne(beanFactory, DataRedisConnectionDetails.class);
		return (details != null) ? create(clients, details) : null;
	}

	private static RedisClient create(RedisClients clients, DataRedisConnectionDetails details) {
		Sentinel sentinel = details.getSentinel();
		Cluster cluster = details.getCluster();
		MasterReplica replicated = details.getMasterReplica();
		Standalone standalone = details.getStandalone();
		if (sentinel != null) {
			return clients.sentinel(sentinel.getMaster(), addresses(sentinel.getNodes()),
					new RedisLogin(sentinel.getUsername(), sentinel.getPassword()),
					settings(details, sentinel.getDatabase()));
		}
		if (cluster != null) {
			return clients.cluster(addresses(cluster.getNodes()), settings(details, 0));
		}
		if (replicated != null) {
			return clients.replicated(addresses(replicated.getNodes()), settings(details, 0));
		}
		if (standalone != null) {
			return clients.standalone(address(standalone.getHost(), standalone.getPort()),
					settings(details, standalone.getDatabase()), details.getSslBundle() != null);
		}
		throw new LockConfigurationException(
				"The application's Redis is not a Sentinel, Cluster, master-replica or standalone setup. Set 'distributed-lock.redis.address', or define a RedissonClient bean.");
	}

	/**
	 * Returns the source of an address of the application, as messages name it.
	 * @param server the server, as messages name it
	 * @param otherwise the source if these details do not name this server
	 */
	static String source(String server, String otherwise, BeanFactory beanFactory) {
		DataRedisConnectionDetails details = beanFactory.getBeanProvider(DataRedisConnectionDetails.class)
			.getIfUnique();
		return (details != null && server.equals(server(details))) ? SOURCE : otherwise;
	}

	private static @Nullable String server(DataRedisConnectionDetails details) {
		Sentinel sentinel = details.getSentinel();
		Cluster cluster = details.getCluster();
		Standalone standalone = details.getStandalone();
		if (sentinel != null) {
			return RedisClients.shownSentinel(sentinel.getMaster(), addresses(sentinel.getNodes()));
		}
		if (cluster != null) {
			return RedisClients.shownCluster(addresses(cluster.getNodes()));
		}
		return (standalone != null) ? address(standalone.getHost(), standalone.getPort()) : null;
	}

	private static Settings settings(DataRedisConnectionDetails details, int database) {
		return new Settings(new RedisLogin(details.getUsername(), details.getPassword()), database,
				details.getSslBundle(), SOURCE);
	}

	private static List<String> addresses(List<Node> nodes) {
		return nodes.stream().map((node) -> address(node.host(), node.port())).toList();
	}

	/** An IPv6 address needs brackets before a port. */
	private static String address(String host, int port) {
		return ((host.indexOf(':') >= 0 && !host.startsWith("[")) ? "[" + host + "]" : host) + ":" + port;
	}

}
