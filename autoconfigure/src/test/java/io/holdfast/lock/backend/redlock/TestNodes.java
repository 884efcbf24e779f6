package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.redisson.Redisson;
import org.redisson.config.Config;

import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedissonScriptClient;
import io.holdfast.lock.test.server.RedisServer;

/**
 * Independent masters for tests, and clients of all of them.
 */
final class TestNodes implements AutoCloseable {

	static final String NAMESPACE = "test";

	/** The script that an operator runs on a node known to hold no lock. */
	private static final String ADMIT = """
			local memory = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '/operator'
			local floor = (redis.call('TIME')[1] + 1) .. '000000'
			return redis.call('HSET', KEYS[1], 'memory', memory, 'admitted', memory, 'floor', floor)""";

	private final List<RedisServer> servers;

	private TestNodes(int count) {
		this.servers = Stream.generate(() -> RedisServer.started()).limit(count).toList();
	}

	/** Returns nodes that vote at once. */
	static TestNodes admitted(int count) {
		TestNodes nodes = new TestNodes(count);
		nodes.servers.forEach(TestNodes::admit);
		return nodes;
	}

	/** Returns nodes that were just set up. */
	static TestNodes fresh(int count) {
		return new TestNodes(count);
	}

	static void admit(RedisServer server) {
		server.ask("eval", ADMIT, "1", NAMESPACE + ":redlock");
	}

	RedisServer get(int index) {
		return this.servers.get(index);
	}

	List<RedisServer> all() {
		return this.servers;
	}

	void each(Consumer<RedisServer> action) {
		this.servers.forEach(action);
	}

	RedlockLockBackend backend(RedlockOptions options) {
		return backend(this.servers.stream().map(RedisServer::port).toList(), options);
	}

	static RedlockLockBackend backend(List<Integer> ports, RedlockOptions options) {
		return new RedlockLockBackend(ports.stream().map((port) -> node(port, options)).toList(), options);
	}

	static RedlockLockBackend started(List<Integer> ports, RedlockOptions options) {
		RedlockLockBackend backend = backend(ports, options);
		backend.verify();
		return backend;
	}

	private static RedisNode node(int port, RedlockOptions options) {
		String address = "127.0.0.1:" + port;
		Config config = new Config();
		config.setThreads(1).setNettyThreads(1).setLazyInitialization(true).setUseScriptCache(false);
		config.useSingleServer()
			.setAddress("redis://" + address)
			.setConnectTimeout(1000)
			.setTimeout(1000)
			.setRetryAttempts(0)
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(16)
			.setSubscriptionConnectionMinimumIdleSize(0);
		return new RedisNode(new RedissonScriptClient(Redisson.create(config), true, options.responseTimeout()),
				NAMESPACE, options.responseTimeout(), address);
	}

	static RedlockOptions options(Duration nodeTimeout, Duration longestLease) {
		return new RedlockOptions(NAMESPACE, Duration.ofSeconds(1), nodeTimeout, 0.01, longestLease, true);
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

}
