package io.holdfast.verification;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

/**
 * The servers of one store, and how a process of the sample reaches them: over wires of
 * its own.
 */
final class StoreKit implements AutoCloseable {

	/**
	 * Short, so that a pause of some seconds outlives it; the shortest that etcd keeps.
	 */
	static final int LEASE_SECONDS = 2;

	private static final int SEVERAL = 3;

	private final String name;

	private final List<? extends ServerProcess> servers;

	private StoreKit(String name, List<? extends ServerProcess> servers) {
		this.name = name;
		this.servers = servers;
	}

	static StoreKit of(String name) {
		return new StoreKit(name, switch (name) {
			case "redis" -> List.of(RedisServer.started());
			case "redlock" -> several(RedisServer::started);
			case "zookeeper" -> List.of(ZooKeeperServer.started());
			case "etcd" -> EtcdServer.cluster(SEVERAL);
			default -> List.of();
		});
	}

	private static <T> List<T> several(Supplier<T> server) {
		return IntStream.range(0, SEVERAL).mapToObj((i) -> server.get()).toList();
	}

	String name() {
		return this.name;
	}

	/**
	 * How many processes of the application make sense: locks of a JVM exclude no other.
	 */
	int processes() {
		return this.name.equals("local") ? 1 : 2;
	}

	/**
	 * A server that a fault may hit, in turn; none if the store has no server of its own.
	 */
	List<? extends ServerProcess> servers() {
		return this.servers;
	}

	/** Whether its memory goes with its process. */
	boolean forgets() {
		return this.name.equals("redis") || this.name.equals("redlock");
	}

	List<TcpProxy> wires() {
		return this.servers.stream().map((server) -> TcpProxy.to(server.port())).toList();
	}

	/** The command line of a process that reaches the store over these wires. */
	List<String> arguments(List<TcpProxy> wires) {
		List<String> arguments = new ArrayList<>(List.of("--distributed-lock.backend=" + this.name,
				"--distributed-lock.lease-time=" + LEASE_SECONDS + "s"));
		List<Integer> ports = wires.stream().map(TcpProxy::port).toList();
		switch (this.name) {
			case "redis" -> arguments.add("--distributed-lock.redis.address=redis://127.0.0.1:" + ports.get(0));
			case "redlock" -> arguments.addAll(List.of("--distributed-lock.redlock.nodes=" + all("redis", ports),
					"--distributed-lock.redlock.node-timeout=250ms"));
			case "zookeeper" ->
				arguments.addAll(List.of("--spring.cloud.zookeeper.connect-string=127.0.0.1:" + ports.get(0),
						"--spring.cloud.zookeeper.enabled=true", "--spring.cloud.zookeeper.session-timeout=2s"));
			case "etcd" -> arguments.add("--distributed-lock.etcd.endpoints=" + all("http", ports));
			case "jdbc" -> arguments.add("--distributed-lock.jdbc.initialize-schema=always");
			default -> {
			}
		}
		return arguments;
	}

	private static String all(String scheme, List<Integer> ports) {
		return ports.stream().map((port) -> scheme + "://127.0.0.1:" + port).collect(Collectors.joining(","));
	}

	@Override
	public void close() {
		this.servers.forEach(ServerProcess::close);
	}

}
