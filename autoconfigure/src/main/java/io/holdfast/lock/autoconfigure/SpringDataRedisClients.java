package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.MasterReplica;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.ssl.SslBundle;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.autoconfigure.RedisClientFactory.Login;

/**
 * Creates a client for locks from Spring Boot's connection details of the application's
 * Redis. It is a separate class so that Boot's Redis module may be absent.
 */
final class SpringDataRedisClients {

	private static final String SOURCE = "'spring.data.redis'";

	private final RedisClientFactory factory;

	private final DataRedisConnectionDetails details;

	private final Login login;

	private final @Nullable SslBundle ssl;

	private SpringDataRedisClients(RedisClientFactory factory, DataRedisConnectionDetails details) {
		this.factory = factory;
		this.details = details;
		this.login = new Login(details.getUsername(), details.getPassword());
		this.ssl = details.getSslBundle();
	}

	/**
	 * Creates a client, or returns {@code null} if there are no connection details.
	 */
	static @Nullable RedisClient create(RedisClientFactory factory, BeanFactory beanFactory) {
		DataRedisConnectionDetails details = beanFactory.getBeanProvider(DataRedisConnectionDetails.class)
			.getIfAvailable();
		return (details != null) ? new SpringDataRedisClients(factory, details).create() : null;
	}

	private RedisClient create() {
		Sentinel sentinel = this.details.getSentinel();
		Cluster cluster = this.details.getCluster();
		MasterReplica replicated = this.details.getMasterReplica();
		Standalone standalone = this.details.getStandalone();
		if (sentinel != null) {
			return sentinel(sentinel);
		}
		if (cluster != null) {
			return cluster(cluster);
		}
		if (replicated != null) {
			return replicated(replicated);
		}
		if (standalone != null) {
			return this.factory.standalone(bracketed(standalone.getHost()) + ":" + standalone.getPort(), this.login,
					standalone.getDatabase(), this.ssl, tls(), SOURCE);
		}
		throw new LockConfigurationException(
				"The application's Redis is not a Sentinel, Cluster, master-replica or standalone setup. Set 'distributed-lock.redis.address', or define a RedissonClient bean.");
	}

	private RedisClient sentinel(Sentinel sentinel) {
		Config config = this.factory.config(this.login, this.ssl);
		SentinelServersConfig servers = this.factory.several(config.useSentinelServers())
			.setMasterName(sentinel.getMaster())
			.setDatabase(sentinel.getDatabase())
			.setSentinelUsername(sentinel.getUsername())
			.setSentinelPassword(sentinel.getPassword())
			// a single sentinel may be configured, and the client discovers the others
			.setCheckSentinelsList(false);
		servers.setSentinelAddresses(addresses(sentinel.getNodes()));
		return this.factory.create(config,
				"master '%s' of the sentinels %s".formatted(sentinel.getMaster(), shown(sentinel.getNodes())), SOURCE);
	}

	private RedisClient cluster(Cluster cluster) {
		Config config = this.factory.config(this.login, this.ssl);
		ClusterServersConfig servers = this.factory.several(config.useClusterServers());
		servers.setNodeAddresses(addresses(cluster.getNodes()));
		return this.factory.create(config, "the cluster of " + shown(cluster.getNodes()), SOURCE);
	}

	private RedisClient replicated(MasterReplica replicated) {
		Config config = this.factory.config(this.login, this.ssl);
		ReplicatedServersConfig servers = this.factory.several(config.useReplicatedServers());
		servers.setNodeAddresses(addresses(replicated.getNodes()));
		return this.factory.create(config, "the master among " + shown(replicated.getNodes()), SOURCE);
	}

	private boolean tls() {
		return this.ssl != null;
	}

	private List<String> addresses(List<Node> nodes) {
		return nodes.stream()
			.map((node) -> RedisClientFactory.scheme(tls()) + bracketed(node.host()) + ":" + node.port())
			.toList();
	}

	private static String shown(List<Node> nodes) {
		return nodes.stream()
			.map((node) -> bracketed(node.host()) + ":" + node.port())
			.collect(Collectors.joining(", "));
	}

	/** An IPv6 address needs brackets before a port. */
	private static String bracketed(String host) {
		return (host.indexOf(':') >= 0 && !host.startsWith("[")) ? "[" + host + "]" : host;
	}

}
