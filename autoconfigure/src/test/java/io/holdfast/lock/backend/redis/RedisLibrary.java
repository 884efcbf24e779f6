package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

import io.holdfast.lock.test.server.RedisSentinel;
import io.holdfast.lock.test.server.RedisServer;

/**
 * The libraries that connect to Redis. Tests of connections and faults run with each of
 * them, others only with {@code -Dthorough=true}.
 */
public enum RedisLibrary {

	REDISSON {

		@Override
		ScriptClient client(String address, Login login, RedisLockOptions options) {
			Config config = TestRedis.config(address);
			config.useSingleServer()
				.setTimeout(Math.toIntExact(options.responseTimeout().toMillis()))
				.setRetryAttempts(0);
			return client(config.setLazyInitialization(true), login, options);
		}

		@Override
		ScriptClient ofCluster(RedisServer node, Login login, RedisLockOptions options) {
			Config config = config();
			config.useClusterServers()
				.setMasterConnectionMinimumIdleSize(1)
				.setSubscriptionConnectionMinimumIdleSize(1)
				.setNodeAddresses(List.of(node.address()));
			return client(config, login, options);
		}

		@Override
		ScriptClient ofSentinel(RedisServer sentinel, RedisLockOptions options) {
			Config config = config();
			config.useSentinelServers()
				.setMasterName(RedisSentinel.MASTER)
				.setCheckSentinelsList(false)
				.setScanInterval(500)
				.setReadMode(ReadMode.MASTER)
				.setMasterConnectionMinimumIdleSize(1)
				.setSubscriptionConnectionMinimumIdleSize(1)
				.addSentinelAddress(sentinel.address());
			return client(config, NOBODY, options);
		}

		private static Config config() {
			Config config = new Config();
			config.setThreads(2).setNettyThreads(2);
			return config;
		}

		private static ScriptClient client(Config config, Login login, RedisLockOptions options) {
			config.setUsername(login.username()).setPassword(login.password());
			return new RedissonScriptClient(Redisson.create(config), true, options.responseTimeout());
		}

	},

	LETTUCE {

		@Override
		ScriptClient client(String address, Login login, RedisLockOptions options) {
			return client(uri(address, login), false, options);
		}

		@Override
		ScriptClient ofCluster(RedisServer node, Login login, RedisLockOptions options) {
			return client(uri(node.address(), login), true, options);
		}

		@Override
		ScriptClient ofSentinel(RedisServer sentinel, RedisLockOptions options) {
			RedisURI uri = RedisURI.Builder.sentinel("127.0.0.1", sentinel.port(), RedisSentinel.MASTER).build();
			return client(uri, false, options);
		}

		private static RedisURI uri(String address, Login login) {
			RedisURI uri = RedisURI.create(address);
			if (login.password() != null) {
				uri.setCredentialsProvider(
						RedisCredentialsProvider.from(() -> RedisCredentials.just(login.username(), login.password())));
			}
			return uri;
		}

		private static ScriptClient client(RedisURI uri, boolean cluster, RedisLockOptions options) {
			return new LettuceScriptClient(new LettuceServers(List.of(uri), cluster, null, null),
					options.responseTimeout().plusSeconds(1), options.responseTimeout(),
					(options.waitReplicas() > 0) ? options.waitReplicasTimeout() : Duration.ZERO);
		}

	};

	private static final Login NOBODY = new Login(null, null);

	abstract ScriptClient client(String address, Login login, RedisLockOptions options);

	abstract ScriptClient ofCluster(RedisServer node, Login login, RedisLockOptions options);

	abstract ScriptClient ofSentinel(RedisServer sentinel, RedisLockOptions options);

	ScriptClient client(String address, RedisLockOptions options) {
		return client(address, NOBODY, options);
	}

	ScriptClient ofCluster(RedisServer node, RedisLockOptions options) {
		return ofCluster(node, NOBODY, options);
	}

	/**
	 * Returns the libraries for tests of what Redis does, which depends less on them.
	 * @return Redisson, and with {@code -Dthorough=true} all
	 */
	public static Stream<RedisLibrary> inDepth() {
		return Boolean.getBoolean("thorough") ? Stream.of(values()) : Stream.of(REDISSON);
	}

	/** Returns a client of a server that responds. */
	RedisLockBackend backend(String address) {
		return backend(address, TestRedis.patientOptions(0));
	}

	RedisLockBackend backend(String address, RedisLockOptions options) {
		return TestRedis.started(client(address, options), options);
	}

	record Login(@Nullable String username, @Nullable String password) {

	}

}
