package io.holdfast.verification.benchmark;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * Locks of other libraries on Redis, and the limit.
 */
final class RedisContenders {

	private static final String DELETE_IF_OWNER = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

	private static final int LEASE_MILLIS = 30_000;

	private RedisContenders() {
	}

	static Contender raw(int port) {
		RedisClient client = RedisClient.create("redis://127.0.0.1:" + port);
		RedisCommands<String, String> commands = client.connect().sync();
		String script = commands.scriptLoad(DELETE_IF_OWNER);
		String owner = UUID.randomUUID().toString();
		return new RawLimit(new RawLimit.Store() {

			@Override
			public boolean create(String key) {
				return "OK".equals(commands.set("raw:" + key, owner, SetArgs.Builder.nx().px(LEASE_MILLIS)));
			}

			@Override
			public void delete(String key) {
				commands.evalsha(script, ScriptOutputType.INTEGER, new String[] { "raw:" + key }, owner);
			}

		});
	}

	/** All nodes at the same time; the responses of a majority count. */
	static Contender rawOfAll(List<Integer> ports) {
		List<RedisAsyncCommands<String, String>> nodes = ports.stream()
			.map((port) -> RedisClient.create("redis://127.0.0.1:" + port).connect().async())
			.toList();
		String owner = UUID.randomUUID().toString();
		return new RawLimit(new RawLimit.Store() {

			@Override
			public boolean create(String key) throws Exception {
				SetArgs options = SetArgs.Builder.nx().px(LEASE_MILLIS);
				List<RedisFuture<String>> all = nodes.stream()
					.map((node) -> node.set("raw:" + key, owner, options))
					.toList();
				int granted = 0;
				for (RedisFuture<String> one : all) {
					granted += "OK".equals(one.get()) ? 1 : 0;
				}
				if (granted <= ports.size() / 2) {
					delete(key);
				}
				return granted > ports.size() / 2;
			}

			@Override
			public void delete(String key) throws Exception {
				List<RedisFuture<Long>> all = nodes.stream()
					.map((node) -> node.<Long>eval(DELETE_IF_OWNER, ScriptOutputType.INTEGER,
							new String[] { "raw:" + key }, owner))
					.toList();
				for (RedisFuture<Long> one : all) {
					one.get();
				}
			}

		});
	}

	private static RedissonClient redissonClient(int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	static Contender redisson(int port) {
		RedissonClient client = redissonClient(port);
		return (key, section) -> Contender.locked(client.getLock("redisson:" + key), section);
	}

	@SuppressWarnings("deprecation")
	static Contender redissonRedLock(List<Integer> ports) {
		List<RedissonClient> clients = ports.stream().map(RedisContenders::redissonClient).toList();
		return (key,
				section) -> Contender.locked(new org.redisson.RedissonRedLock(
						clients.stream().map((client) -> client.getLock("redlock:" + key)).toArray(RLock[]::new)),
						section);
	}

	private static LettuceConnectionFactory lettuce(int port) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port));
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

	static Contender springIntegration(int port) {
		RedisLockRegistry registry = new RedisLockRegistry(lettuce(port), "integration", LEASE_MILLIS);
		registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
		return (key, section) -> Contender.locked(registry.obtain(key), section);
	}

	static Contender lock4j(int port) throws Exception {
		Lock4jProperties defaults = new Lock4jProperties();
		LockTemplate locks = new LockTemplate();
		locks.setProperties(defaults);
		locks.setExecutors(List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(lettuce(port)), defaults)));
		locks.afterPropertiesSet();
		return (key, section) -> {
			LockInfo held = locks.lock("lock4j:" + key, LEASE_MILLIS,
					TimeUnit.SECONDS.toMillis(Contender.WAIT_SECONDS));
			if (held == null) {
				throw new IllegalStateException("The lock was not acquired");
			}
			try {
				section.run();
			}
			finally {
				locks.releaseLock(held);
			}
		};
	}

	static Contender shedLock(int port) {
		return new ShedLockContender(new RedisLockProvider(lettuce(port)), Duration.ofMillis(LEASE_MILLIS));
	}

}
