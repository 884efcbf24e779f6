package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.redis.LettuceScriptClient;
import io.holdfast.lock.backend.redis.LettuceServers;
import io.holdfast.lock.support.Threads;

/**
 * Creates clients with Lettuce.
 */
final class LettuceClientFactory implements RedisClients {

	private final Duration connectionTimeout;

	private final Duration responseTimeout;

	private final Duration waitTimeout;

	private final @Nullable ClientResources shared;

	/**
	 * Creates a factory for clients with threads of their own.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 * @param waitTimeout longest wait for replicas, or zero if requests do not wait for
	 * them
	 */
	LettuceClientFactory(Duration connectionTimeout, Duration responseTimeout, Duration waitTimeout) {
		this(connectionTimeout, responseTimeout, waitTimeout, null);
	}

	private LettuceClientFactory(Duration connectionTimeout, Duration responseTimeout, Duration waitTimeout,
			@Nullable ClientResources shared) {
		this.connectionTimeout = connectionTimeout;
		this.responseTimeout = responseTimeout;
		this.waitTimeout = waitTimeout;
		this.shared = shared;
	}

	/**
	 * Creates a factory for the clients of several independent servers, which share
	 * threads.
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 */
	static LettuceClientFactory ofNodes(Duration connectionTimeout, Duration responseTimeout) {
		ClientResources shared = ClientResources.builder()
			.threadFactoryProvider((pool) -> new DefaultThreadFactory(RedisClients.THREADS_OF_NODES, true))
			.ioThreadPoolSize(RedisClients.threadsOfNodes())
			.computationThreadPoolSize(RedisClients.threadsOfNodes())
			.commandLatencyRecorder(CommandLatencyRecorder.disabled())
			.build();
		return new LettuceClientFactory(connectionTimeout, responseTimeout, Duration.ZERO, shared);
	}

	@Override
	public RedisClient standalone(String hostAndPort, Settings settings, boolean tls) {
		RedisURI uri = uri(hostAndPort, settings.login());
		uri.setDatabase(settings.database());
		uri.setSsl(tls);
		return create(List.of(uri), false, settings, hostAndPort);
	}

	@Override
	public RedisClient sentinel(String master, List<String> sentinels, RedisLogin sentinelLogin, Settings settings) {
		RedisURI uri = new RedisURI();
		uri.setSentinelMasterId(master);
		uri.setDatabase(settings.database());
		logIn(uri, settings.login());
		uri.setSsl(settings.ssl() != null);
		for (String sentinel : sentinels) {
			RedisURI address = uri(sentinel, sentinelLogin);
			address.setSsl(settings.ssl() != null);
			uri.getSentinels().add(address);
		}
		return create(List.of(uri), false, settings, RedisClients.shownSentinel(master, sentinels));
	}

	@Override
	public RedisClient cluster(List<String> nodes, Settings settings) {
		List<RedisURI> uris = nodes.stream().map((node) -> uri(node, settings.login())).toList();
		uris.forEach((uri) -> uri.setSsl(settings.ssl() != null));
		return create(uris, true, settings, RedisClients.shownCluster(nodes));
	}

	@Override
	public RedisClient replicated(List<String> nodes, Settings settings) {
		throw new LockConfigurationException(
				"'spring.data.redis.masterreplica' is set, but locks cannot find the master with Lettuce. Add the dependency '%s', or set 'distributed-lock.redis.address' to the master."
					.formatted(RedisClientLibrary.REDISSON.dependency(LockStore.REDIS)));
	}

	private RedisClient create(List<RedisURI> uris, boolean cluster, Settings settings, String server) {
		return create(new LettuceServers(uris, cluster, this.shared, options(settings.ssl())), server,
				settings.source());
	}

	RedisClient create(LettuceServers servers, String server, String source) {
		return new RedisClient(
				new LettuceScriptClient(servers, this.connectionTimeout, this.responseTimeout, this.waitTimeout),
				server, source);
	}

	@Override
	public void close() {
		ClientResources resources = this.shared;
		if (resources != null) {
			long timeout = this.responseTimeout.toMillis();
			Threads.close("holdfast-redis-close", this.responseTimeout,
					() -> resources.shutdown(0, timeout, TimeUnit.MILLISECONDS).awaitUninterruptibly(timeout));
		}
	}

	private static RedisURI uri(String hostAndPort, RedisLogin login) {
		int colon = hostAndPort.lastIndexOf(':');
		String host = hostAndPort.substring(0, colon);
		RedisURI uri = RedisURI.create((host.startsWith("[")) ? host.substring(1, host.length() - 1) : host,
				Integer.parseInt(hostAndPort.substring(colon + 1)));
		logIn(uri, login);
		return uri;
	}

	private static void logIn(RedisURI uri, RedisLogin login) {
		String password = login.password();
		if (password != null) {
			RedisCredentials credentials = RedisCredentials.just(login.username(), password);
			uri.setCredentialsProvider(RedisCredentialsProvider.from(() -> credentials));
		}
	}

	private static @Nullable ClientOptions options(@Nullable SslBundle ssl) {
		if (ssl == null) {
			return null;
		}
		SslOptions.Builder options = SslOptions.builder()
			.keyManager(ssl.getManagers().getKeyManagerFactory())
			.trustManager(ssl.getManagers().getTrustManagerFactory());
		String[] ciphers = ssl.getOptions().getCiphers();
		if (ciphers != null) {
			options.cipherSuites(ciphers);
		}
		String[] protocols = ssl.getOptions().getEnabledProtocols();
		if (protocols != null) {
			options.protocols(protocols);
		}
		return ClientOptions.builder().sslOptions(options.build()).build();
	}

}
