package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;

import javax.net.ssl.KeyManagerFactory;

import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.client.DefaultNettyHook;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;

import io.holdfast.lock.backend.redis.RedissonScriptClient;

/**
 * Creates clients with Redisson.
 */
final class RedissonClientFactory implements RedisClients {

	private static final int THREADS = 4;

	/** Requests are short and never block a thread. */
	private static final int THREADS_FOR_A_NODE = 1;

	/**
	 * With fewer than ten connections, Redisson returns a connection to its pool when a
	 * request has been written, so that requests of several callers share it. Otherwise a
	 * connection serves one request until its response arrives.
	 */
	private static final int SHARED_CONNECTIONS = 8;

	/** {@code WAIT} blocks its connection, so requests must not share one with it. */
	private static final int EXCLUSIVE_CONNECTIONS = 32;

	/** Longest run of requests that are written together. */
	private static final int FLUSH_AFTER = 256;

	private static final Duration FIRST_RECONNECTION = Duration.ofMillis(100);

	private static final Duration LAST_RECONNECTION = Duration.ofSeconds(1);

	/** A connection that does not respond delays all requests that share it. */
	private static final int PING_MILLIS = 3_000;

	private final Duration connectionTimeout;

	private final Duration responseTimeout;

	private final int connections;

	private final int threads;

	/** Number of connections for channels that exist before a subscription. */
	private final int idleSubscriptions;

	/**
	 * Creates a factory.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 * @param waitReplicas number of replicas that requests wait for
	 */
	RedissonClientFactory(Duration connectionTimeout, Duration responseTimeout, int waitReplicas) {
		this(connectionTimeout, responseTimeout, (waitReplicas > 0) ? EXCLUSIVE_CONNECTIONS : SHARED_CONNECTIONS,
				THREADS, 1);
	}

	private RedissonClientFactory(Duration connectionTimeout, Duration responseTimeout, int connections, int threads,
			int idleSubscriptions) {
		this.connectionTimeout = connectionTimeout;
		this.responseTimeout = responseTimeout;
		this.connections = connections;
		this.threads = threads;
		this.idleSubscriptions = idleSubscriptions;
	}

	/**
	 * Creates a factory for the clients of several independent servers.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 */
	static RedissonClientFactory ofNodes(Duration connectionTimeout, Duration responseTimeout) {
		return new RedissonClientFactory(connectionTimeout, responseTimeout, SHARED_CONNECTIONS, THREADS_FOR_A_NODE, 0);
	}

	@Override
	public RedisClient standalone(String hostAndPort, Settings settings, boolean tls) {
		Config config = config(settings.login(), settings.ssl());
		single(config).setAddress(scheme(tls) + hostAndPort)
			.setDatabase(settings.database())
			.setSubscriptionConnectionMinimumIdleSize(this.idleSubscriptions);
		return create(config, hostAndPort, settings.source());
	}

	@Override
	public RedisClient sentinel(String master, List<String> sentinels, RedisLogin sentinelLogin, Settings settings) {
		Config config = config(settings.login(), settings.ssl());
		SentinelServersConfig servers = several(config.useSentinelServers()).setMasterName(master)
			.setDatabase(settings.database())
			.setSentinelUsername(sentinelLogin.username())
			.setSentinelPassword(sentinelLogin.password())
			// a single sentinel may be configured, and the client discovers the others
			.setCheckSentinelsList(false);
		servers.setSentinelAddresses(addresses(sentinels, settings));
		return create(config, RedisClients.shownSentinel(master, sentinels), settings.source());
	}

	@Override
	public RedisClient cluster(List<String> nodes, Settings settings) {
		Config config = config(settings.login(), settings.ssl());
		several(config.useClusterServers()).setNodeAddresses(addresses(nodes, settings));
		return create(config, RedisClients.shownCluster(nodes), settings.source());
	}

	@Override
	public RedisClient replicated(List<String> nodes, Settings settings) {
		Config config = config(settings.login(), settings.ssl());
		several(config.useReplicatedServers()).setNodeAddresses(addresses(nodes, settings));
		return create(config, "the master among " + String.join(", ", nodes), settings.source());
	}

	private static List<String> addresses(List<String> nodes, Settings settings) {
		return nodes.stream().map((node) -> scheme(settings.ssl() != null) + node).toList();
	}

	private RedisClient create(Config config, String server, String source) {
		return new RedisClient(new RedissonScriptClient(Redisson.create(config), true, this.responseTimeout), server,
				source);
	}

	private static String scheme(boolean tls) {
		return tls ? "rediss://" : "redis://";
	}

	Config config(RedisLogin login, @Nullable SslBundle ssl) {
		Config config = new Config();
		config.setLazyInitialization(true)
			.setUseScriptCache(false)
			.setThreads(this.threads)
			.setNettyThreads(this.threads);
		config.setNettyHook(new FlushTogether());
		config.setUsername(login.username()).setPassword(login.password());
		if (ssl != null) {
			config.setSslTrustManagerFactory(ssl.getManagers().getTrustManagerFactory());
			KeyManagerFactory keys = ssl.getManagers().getKeyManagerFactory();
			config.setSslKeyManagerFactory(keys);
			SslOptions options = ssl.getOptions();
			if (options.getEnabledProtocols() != null) {
				config.setSslProtocols(options.getEnabledProtocols());
			}
			if (options.getCiphers() != null) {
				config.setSslCiphers(options.getCiphers());
			}
		}
		return config;
	}

	private SingleServerConfig single(Config config) {
		return common(config.useSingleServer()).setConnectionPoolSize(this.connections).setConnectionMinimumIdleSize(1);
	}

	private <T extends BaseConfig<T>> T common(T servers) {
		return servers.setClientName("holdfast")
			.setConnectTimeout(Math.toIntExact(this.connectionTimeout.toMillis()))
			.setTimeout(Math.toIntExact(this.responseTimeout.toMillis()))
			.setRetryAttempts(0)
			.setReconnectionDelay(new EqualJitterDelay(FIRST_RECONNECTION, LAST_RECONNECTION))
			.setPingConnectionInterval(PING_MILLIS);
	}

	/**
	 * Configures several servers. Locks never read from a replica, so no replica needs a
	 * connection.
	 */
	private <T extends BaseMasterSlaveServersConfig<T>> T several(T servers) {
		return common(servers).setReadMode(ReadMode.MASTER)
			.setSubscriptionMode(SubscriptionMode.MASTER)
			.setMasterConnectionPoolSize(this.connections)
			.setMasterConnectionMinimumIdleSize(1)
			.setSubscriptionConnectionMinimumIdleSize(1);
	}

	/**
	 * Writes requests to the socket together if several are due.
	 */
	private static final class FlushTogether extends DefaultNettyHook {

		@Override
		public void afterChannelInitialization(Channel channel) {
			channel.pipeline().addFirst(new FlushConsolidationHandler(FLUSH_AFTER, true));
		}

	}

}
