package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.client.DefaultNettyHook;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SubscriptionMode;

import org.springframework.boot.ssl.SslBundle;

import io.holdfast.lock.backend.redis.RedissonScriptClient;
import io.holdfast.lock.support.Threads;

/**
 * Creates clients with Redisson.
 */
final class RedissonClientFactory implements RedisClients {

	/** Requests are short and never block a thread. */
	private static final int THREADS = 4;

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

	/** Number of connections for channels that exist before a subscription. */
	private final int idleSubscriptions;

	private final @Nullable SharedThreads shared;

	/**
	 * Creates a factory for clients with threads of their own.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 * @param waitReplicas number of replicas that requests wait for
	 */
	RedissonClientFactory(Duration connectionTimeout, Duration responseTimeout, int waitReplicas) {
		this(connectionTimeout, responseTimeout, (waitReplicas > 0) ? EXCLUSIVE_CONNECTIONS : SHARED_CONNECTIONS, 1,
				null);
	}

	private RedissonClientFactory(Duration connectionTimeout, Duration responseTimeout, int connections,
			int idleSubscriptions, @Nullable SharedThreads shared) {
		this.connectionTimeout = connectionTimeout;
		this.responseTimeout = responseTimeout;
		this.connections = connections;
		this.idleSubscriptions = idleSubscriptions;
		this.shared = shared;
	}

	/**
	 * Creates a factory for the clients of several independent servers, which share
	 * threads.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 */
	static RedissonClientFactory ofNodes(Duration connectionTimeout, Duration responseTimeout) {
		return new RedissonClientFactory(connectionTimeout, responseTimeout, SHARED_CONNECTIONS, 0,
				SharedThreads.create(RedisClients.threadsOfNodes()));
	}

	@Override
	public RedisClient standalone(String hostAndPort, Settings settings, boolean tls) {
		Config config = config(settings.login(), settings.ssl());
		common(config.useSingleServer()).setAddress(scheme(tls) + hostAndPort)
			.setDatabase(settings.database())
			.setConnectionPoolSize(this.connections)
			.setConnectionMinimumIdleSize(1)
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

	@Override
	public void close() {
		if (this.shared != null) {
			this.shared.close(this.responseTimeout);
		}
	}

	private static String scheme(boolean tls) {
		return tls ? "rediss://" : "redis://";
	}

	Config config(RedisLogin login, @Nullable SslBundle ssl) {
		Config config = new Config();
		config.setLazyInitialization(true).setUseScriptCache(false).setThreads(THREADS).setNettyThreads(THREADS);
		if (this.shared != null) {
			config.setEventLoopGroup(this.shared.loops()).setExecutor(this.shared.executor());
		}
		config.setNettyHook(new FlushTogether());
		config.setUsername(login.username()).setPassword(login.password());
		if (ssl != null) {
			config.setSslTrustManagerFactory(ssl.getManagers().getTrustManagerFactory());
			config.setSslKeyManagerFactory(ssl.getManagers().getKeyManagerFactory());
			config.setSslProtocols(ssl.getOptions().getEnabledProtocols());
			config.setSslCiphers(ssl.getOptions().getCiphers());
		}
		return config;
	}

	/** Redisson counts milliseconds in an int, which ends after 24 days. */
	private static int millis(Duration timeout) {
		return (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
	}

	private <T extends BaseConfig<T>> T common(T servers) {
		return servers.setClientName("holdfast")
			.setConnectTimeout(millis(this.connectionTimeout))
			.setTimeout(millis(this.responseTimeout))
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
	 * The threads that several clients share.
	 *
	 * @param loops read responses and write requests
	 * @param executor runs everything else
	 */
	private record SharedThreads(EventLoopGroup loops, ExecutorService executor) {

		static SharedThreads create(int count) {
			ThreadFactory threads = new DefaultThreadFactory(RedisClients.THREADS_OF_NODES, true);
			return new SharedThreads(new MultiThreadIoEventLoopGroup(count, threads, NioIoHandler.newFactory()),
					Executors.newFixedThreadPool(count, threads));
		}

		void close(Duration timeout) {
			this.executor.shutdown();
			Threads.close("holdfast-redis-close", timeout,
					() -> this.loops.shutdownGracefully(0, timeout.toMillis(), TimeUnit.MILLISECONDS)
						.awaitUninterruptibly(timeout.toMillis()));
		}

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
