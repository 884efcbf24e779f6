package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import org.awaitility.Awaitility;
import org.redisson.Redisson;
import org.redisson.config.Config;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.backend.redis.LettuceScriptClient;
import io.holdfast.lock.backend.redis.LettuceServers;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedissonScriptClient;
import io.holdfast.lock.backend.redis.ScriptClient;
import io.holdfast.lock.test.server.RedisServer;

/**
 * Independent masters for tests, and clients of all of them.
 */
final class TestNodes implements AutoCloseable {

	static final String NAMESPACE = "test";

	private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(1);

	/** The script that an operator runs on a node known to hold no lock. */
	private static final String ADMIT = """
			local memory = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '/operator'
			local promoted = string.match(redis.call('INFO', 'replication'), 'master_replid2:(%x+)')
			local floor = (redis.call('TIME')[1] + 1) .. '000000'
			return redis.call('HSET', KEYS[1], 'memory', memory, 'promoted', promoted, 'admitted', memory, 'floor', floor)""";

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

	RedlockLockBackend backend(RedisLibrary library, RedlockLockOptions options) {
		return backend(library, this.servers.stream().map(RedisServer::port).toList(), options);
	}

	static RedlockLockBackend backend(RedisLibrary library, List<Integer> ports, RedlockLockOptions options) {
		return new RedlockLockBackend(ports.stream().map((port) -> node(library, port, options)).toList(), options);
	}

	static RedlockLockBackend started(RedisLibrary library, List<Integer> ports, RedlockLockOptions options) {
		RedlockLockBackend backend = backend(library, ports, options);
		connect(backend);
		return backend;
	}

	/** Retries as an application does: loading a library may outlast one attempt. */
	static void connect(RedlockLockBackend backend) {
		Awaitility.await().pollDelay(Duration.ZERO).ignoreException(LockBackendException.class).until(() -> {
			backend.verify();
			return true;
		});
	}

	private static RedisNode node(RedisLibrary library, int port, RedlockLockOptions options) {
		String address = "127.0.0.1:" + port;
		ScriptClient client = switch (library) {
			case REDISSON -> redisson("redis://" + address, options);
			case LETTUCE -> new LettuceScriptClient(
					new LettuceServers(List.of(RedisURI.create("redis://" + address)), false, null, null),
					CONNECTION_TIMEOUT, options.responseTimeout(), Duration.ZERO);
		};
		return new RedisNode(client, NAMESPACE, options.responseTimeout(), address);
	}

	private static ScriptClient redisson(String address, RedlockLockOptions options) {
		Config config = new Config();
		config.setThreads(1).setNettyThreads(1).setLazyInitialization(true).setUseScriptCache(false);
		config.useSingleServer()
			.setAddress(address)
			.setConnectTimeout(Math.toIntExact(CONNECTION_TIMEOUT.toMillis()))
			.setTimeout(1000)
			.setRetryAttempts(0)
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(16)
			.setSubscriptionConnectionMinimumIdleSize(0);
		return new RedissonScriptClient(Redisson.create(config), true, options.responseTimeout());
	}

	static RedlockLockOptions options(Duration nodeTimeout, Duration longestLease) {
		return new RedlockLockOptions(NAMESPACE, Duration.ofSeconds(1), nodeTimeout, 0.01, longestLease, true);
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

}
