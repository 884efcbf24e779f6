package io.holdfast.lock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConverters;
import org.springframework.util.StringUtils;

import io.holdfast.lock.backend.redis.LettuceServers;

/**
 * Reads the servers, options and threads of the application's Lettuce from its Spring
 * Data Redis. It is a separate class so that Spring Data Redis may be absent.
 */
final class LettuceOfApplication {

	private final LettuceConnectionFactory factory;

	private final LettuceClientConfiguration client;

	private LettuceOfApplication(LettuceConnectionFactory factory) {
		this.factory = factory;
		this.client = factory.getClientConfiguration();
	}

	/**
	 * Returns the application's Lettuce, or {@code null} if it has none, or one whose
	 * master locks cannot find.
	 */
	static @Nullable LettuceOfApplication find(ConfigurableListableBeanFactory beanFactory) {
		RedisConnectionFactory bean = RedisClientSelection.theOne(beanFactory, RedisConnectionFactory.class);
		if (!(bean instanceof LettuceConnectionFactory factory) || isMasterReplica(factory)) {
			return null;
		}
		for (String name : beanFactory.getBeanNamesForType(RedisConnectionFactory.class, true, false)) {
			beanFactory.registerDependentBean(name, RedisLockAutoConfiguration.BEAN);
		}
		return new LettuceOfApplication(factory);
	}

	/** The factory shows every configuration but this one. */
	private static boolean isMasterReplica(LettuceConnectionFactory factory) {
		return new DirectFieldAccessor(factory)
			.getPropertyValue("configuration") instanceof RedisStaticMasterReplicaConfiguration;
	}

	/**
	 * Creates a client with the servers, options and threads of the application's, but
	 * with connections of its own.
	 * @param source the source of the address, as messages name it
	 */
	RedisClient client(LettuceClientFactory clients, String source) {
		RedisClusterConfiguration cluster = this.factory.getClusterConfiguration();
		LettuceServers servers = new LettuceServers((cluster != null) ? uris(cluster) : List.of(uri()), cluster != null,
				this.client.getClientResources().orElse(null), this.client.getClientOptions().orElse(null));
		return clients.create(servers, server(), source);
	}

	/** Returns how messages name the servers. */
	String server() {
		RedisSentinelConfiguration sentinel = this.factory.getSentinelConfiguration();
		RedisClusterConfiguration cluster = this.factory.getClusterConfiguration();
		RedisSocketConfiguration socket = this.factory.getSocketConfiguration();
		if (sentinel != null && sentinel.getMaster() != null) {
			return RedisClients.shownSentinel(String.valueOf(sentinel.getMaster().getName()),
					shown(sentinel.getSentinels()));
		}
		if (cluster != null) {
			return RedisClients.shownCluster(shown(cluster.getClusterNodes()));
		}
		return (socket != null) ? socket.getSocket() : this.factory.getHostName() + ":" + this.factory.getPort();
	}

	private static List<String> shown(Iterable<RedisNode> nodes) {
		List<String> shown = new ArrayList<>();
		nodes.forEach((node) -> shown.add(node.asString()));
		return shown;
	}

	private RedisURI uri() {
		RedisSentinelConfiguration sentinel = this.factory.getSentinelConfiguration();
		RedisSocketConfiguration socket = this.factory.getSocketConfiguration();
		RedisURI uri;
		if (sentinel != null) {
			uri = LettuceConverters.sentinelConfigurationToRedisURI(sentinel);
			logIn(uri, sentinel);
			this.client.getRedisCredentialsProviderFactory()
				.map((credentials) -> credentials.createSentinelCredentialsProvider(sentinel))
				.ifPresent((provider) -> uri.getSentinels()
					.forEach((address) -> address.setCredentialsProvider(provider)));
		}
		else if (socket != null) {
			uri = RedisURI.Builder.socket(socket.getSocket()).build();
			logIn(uri, socket.getUsername(), socket.getPassword(), socket);
		}
		else {
			RedisStandaloneConfiguration standalone = this.factory.getStandaloneConfiguration();
			uri = RedisURI.create(this.factory.getHostName(), this.factory.getPort());
			logIn(uri, standalone.getUsername(), standalone.getPassword(), standalone);
		}
		uri.setDatabase(this.factory.getDatabase());
		Stream.concat(Stream.of(uri), uri.getSentinels().stream()).forEach(this::encrypt);
		return uri;
	}

	private List<RedisURI> uris(RedisClusterConfiguration cluster) {
		List<RedisURI> uris = new ArrayList<>();
		for (RedisNode node : cluster.getClusterNodes()) {
			RedisURI uri = RedisURI.create(node.getRequiredHost(), node.getRequiredPort());
			logIn(uri, cluster.getUsername(), cluster.getPassword(), cluster);
			encrypt(uri);
			uris.add(uri);
		}
		return uris;
	}

	private void encrypt(RedisURI uri) {
		uri.setSsl(this.client.isUseSsl());
		uri.setVerifyPeer(this.client.getVerifyMode());
		uri.setStartTls(this.client.isStartTls());
	}

	private void logIn(RedisURI uri, @Nullable String username, RedisPassword password, RedisConfiguration from) {
		if (password.isPresent()) {
			char[] secret = password.get();
			uri.setCredentialsProvider(RedisCredentialsProvider
				.from(() -> RedisCredentials.just(StringUtils.hasText(username) ? username : null, secret)));
		}
		logIn(uri, from);
	}

	private void logIn(RedisURI uri, RedisConfiguration from) {
		this.client.getRedisCredentialsProviderFactory()
			.map((credentials) -> credentials.createCredentialsProvider(from))
			.ifPresent(uri::setCredentialsProvider);
	}

}
