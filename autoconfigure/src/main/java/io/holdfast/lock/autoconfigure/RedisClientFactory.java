package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import javax.net.ssl.KeyManagerFactory;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;

/**
 * Creates clients that only locks use. They connect on first use, abort an attempt when
 * the response timeout elapses, and never repeat a request, because the engine retries.
 */
final class RedisClientFactory {

	private static final int THREADS = 4;

	static final int CONNECTIONS = 32;

	private static final Duration FIRST_RECONNECTION = Duration.ofMillis(100);

	private static final Duration LAST_RECONNECTION = Duration.ofSeconds(1);

	private static final int PING_MILLIS = 10_000;

	private final Duration connectionTimeout;

	private final Duration responseTimeout;

	RedisClientFactory(Duration connectionTimeout, Duration responseTimeout) {
		this.connectionTimeout = connectionTimeout;
		this.responseTimeout = responseTimeout;
	}

	RedisClient standalone(String hostAndPort, Login login, int database, @Nullable SslBundle ssl, boolean tls,
			String source) {
		Config config = config(login, ssl);
		SingleServerConfig server = common(config.useSingleServer());
		server.setAddress(scheme(tls) + hostAndPort)
			.setDatabase(database)
			.setConnectionPoolSize(CONNECTIONS)
			.setConnectionMinimumIdleSize(1)
			.setSubscriptionConnectionMinimumIdleSize(1);
		return create(config, hostAndPort, source);
	}

	RedisClient create(Config config, String server, String source) {
		RedissonClient client = Redisson.create(config);
		return new RedisClient(client, true, server, source);
	}

	static String scheme(boolean tls) {
		return tls ? "rediss://" : "redis://";
	}

	Config config(Login login, @Nullable SslBundle ssl) {
		Config config = new Config();
		config.setLazyInitialization(true).setUseScriptCache(false).setThreads(THREADS).setNettyThreads(THREADS);
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

	<T extends BaseConfig<T>> T common(T servers) {
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
	<T extends BaseMasterSlaveServersConfig<T>> T several(T servers) {
		return common(servers).setReadMode(ReadMode.MASTER)
			.setSubscriptionMode(SubscriptionMode.MASTER)
			.setMasterConnectionPoolSize(CONNECTIONS)
			.setMasterConnectionMinimumIdleSize(1)
			.setSubscriptionConnectionMinimumIdleSize(1);
	}

	/**
	 * Credentials for a connection.
	 *
	 * @param username the user, or {@code null} for the default one
	 * @param password the password, or {@code null} for none
	 */
	record Login(@Nullable String username, @Nullable String password) {

		@Override
		public String toString() {
			return "Login[***]";
		}

	}

}
