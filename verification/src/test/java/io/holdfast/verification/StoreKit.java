package io.holdfast.verification;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.RedisSentinel;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.verification.Fault.ANSWERS_LATE;
import static io.holdfast.verification.Fault.BURST_OF_OTHERS;
import static io.holdfast.verification.Fault.COMMIT_SLOW;
import static io.holdfast.verification.Fault.COMMIT_UNANSWERED;
import static io.holdfast.verification.Fault.DATABASE_CUT;
import static io.holdfast.verification.Fault.DATABASE_PAUSED;
import static io.holdfast.verification.Fault.KILLED;
import static io.holdfast.verification.Fault.LEADER_KILLED;
import static io.holdfast.verification.Fault.MEMBERS_DIVIDED;
import static io.holdfast.verification.Fault.MEMBER_KILLED_AFTER_ANSWER;
import static io.holdfast.verification.Fault.MEMBER_PAUSED_AFTER_ANSWER;
import static io.holdfast.verification.Fault.PAUSED_BEFORE_BODY;
import static io.holdfast.verification.Fault.PAUSED_BEFORE_COMMIT;
import static io.holdfast.verification.Fault.PAUSED_IN_BODY;
import static io.holdfast.verification.Fault.PROCESSES_DIVIDED;
import static io.holdfast.verification.Fault.PROCESS_CLOCK_MOVED;
import static io.holdfast.verification.Fault.QUORUM_PAUSED;
import static io.holdfast.verification.Fault.STORE_CLOCK_MOVED;
import static io.holdfast.verification.Fault.STORE_FAILED_OVER;
import static io.holdfast.verification.Fault.STORE_FLUSHED;
import static io.holdfast.verification.Fault.STORE_PAUSED;
import static io.holdfast.verification.Fault.STORE_RESTARTED;
import static io.holdfast.verification.Fault.WAITER_PAUSED_ACROSS_DEADLINE;
import static io.holdfast.verification.Fault.WAITER_PAUSED_BELOW_DEADLINE;
import static io.holdfast.verification.Fault.WAITER_PAUSED_BEYOND_DEADLINE;
import static io.holdfast.verification.Fault.WIRE_CUT;
import static io.holdfast.verification.Fault.WIRE_SILENT;
import static io.holdfast.verification.Fault.WIRE_SLOW;

/**
 * The servers of one store, and the faults that apply to it. Processes of the sample
 * application reach the servers through their own proxies.
 */
final class StoreKit implements AutoCloseable {

	/**
	 * The lease time: short enough that a pause of a few seconds exceeds it, and the
	 * shortest that etcd keeps.
	 */
	static final int LEASE_SECONDS = 2;

	private static final int SEVERAL = 3;

	/** One for each lock that the buyers of a process may hold or await. */
	private static final int CONNECTIONS = 40;

	private static final int LONGEST_ELECTION_SECONDS = 60;

	private final String name;

	private final List<? extends ServerProcess> servers;

	private final @Nullable RedisSentinel sentinel;

	private StoreKit(String name, List<? extends ServerProcess> servers, @Nullable RedisSentinel sentinel) {
		this.name = name;
		this.servers = servers;
		this.sentinel = sentinel;
	}

	static StoreKit of(String name) {
		return switch (name) {
			case "redis" -> new StoreKit(name, List.of(RedisServer.started()), null);
			case "redis-sentinel" -> withSentinel(RedisSentinel.started());
			case "redlock" -> new StoreKit(name, several(RedisServer::started), null);
			case "zookeeper" -> new StoreKit(name, ZooKeeperServer.ensemble(SEVERAL), null);
			case "etcd" -> new StoreKit(name, EtcdServer.cluster(SEVERAL), null);
			default -> new StoreKit(name, List.of(), null);
		};
	}

	private static StoreKit withSentinel(RedisSentinel sentinel) {
		return new StoreKit("redis-sentinel", List.of(sentinel.primary(), sentinel.replica()), sentinel);
	}

	private static <T> List<T> several(Supplier<T> server) {
		return IntStream.range(0, SEVERAL).mapToObj((i) -> server.get()).toList();
	}

	String name() {
		return this.name;
	}

	/**
	 * Returns the number of processes. One is enough for in-memory locks, which do not
	 * exclude other processes.
	 */
	int processes() {
		return this.name.equals("local") ? 1 : 2;
	}

	/**
	 * Returns the servers that faults may affect; empty if the store has no server of its
	 * own.
	 */
	List<? extends ServerProcess> servers() {
		return this.servers;
	}

	/** Returns the faults that apply to this store. */
	Set<Fault> faults() {
		Set<Fault> faults = EnumSet.of(PAUSED_BEFORE_BODY, PAUSED_IN_BODY, PAUSED_BEFORE_COMMIT, KILLED, DATABASE_CUT,
				COMMIT_UNANSWERED, COMMIT_SLOW, PROCESS_CLOCK_MOVED, BURST_OF_OTHERS, DATABASE_PAUSED);
		if (processes() > 1) {
			faults.addAll(EnumSet.of(WAITER_PAUSED_BELOW_DEADLINE, WAITER_PAUSED_ACROSS_DEADLINE,
					WAITER_PAUSED_BEYOND_DEADLINE));
		}
		faults.addAll(switch (this.name) {
			// no clock fault: after data loss, tokens would fall below those of a clock
			// that was ahead
			case "redis" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, STORE_PAUSED, STORE_RESTARTED,
					STORE_FLUSHED);
			case "redis-sentinel" -> EnumSet.of(STORE_FAILED_OVER, STORE_CLOCK_MOVED);
			case "redlock" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED, QUORUM_PAUSED,
					STORE_RESTARTED, STORE_FLUSHED, STORE_CLOCK_MOVED);
			case "zookeeper" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBERS_DIVIDED, MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED,
					QUORUM_PAUSED, STORE_RESTARTED, LEADER_KILLED, STORE_CLOCK_MOVED);
			// no clock fault: the clock of etcd cannot be moved separately
			case "etcd" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBERS_DIVIDED, MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED,
					QUORUM_PAUSED, STORE_RESTARTED, LEADER_KILLED);
			case "jdbc", "jdbc-advisory" -> EnumSet.of(STORE_CLOCK_MOVED);
			default -> EnumSet.noneOf(Fault.class);
		});
		return faults;
	}

	/** Returns the leader, and waits for its election. Only for stores with a leader. */
	ServerProcess leader() throws InterruptedException {
		for (int i = 0; i < LONGEST_ELECTION_SECONDS * 10; i++) {
			for (ServerProcess server : this.servers) {
				if (isLeader(server)) {
					return server;
				}
			}
			TimeUnit.MILLISECONDS.sleep(100);
		}
		throw new IllegalStateException(
				"No server of %s leads after %d s".formatted(this.name, LONGEST_ELECTION_SECONDS));
	}

	private static boolean isLeader(ServerProcess server) {
		return (server instanceof ZooKeeperServer zookeeper && zookeeper.isLeader())
				|| (server instanceof EtcdServer etcd && etcd.isLeader());
	}

	/** Separates the leader from the other servers, but not from its clients. */
	void divide() throws IOException, InterruptedException {
		ServerProcess leader = leader();
		if (leader instanceof ZooKeeperServer zookeeper) {
			zookeeper.separateFromFollowers();
		}
		else if (leader instanceof EtcdServer etcd) {
			etcd.separateFrom(etcd().stream().filter((other) -> other != leader).toList());
		}
	}

	/** Reconnects all servers with each other. */
	void reunite() {
		for (ServerProcess server : this.servers) {
			if (server instanceof ZooKeeperServer zookeeper) {
				zookeeper.reunite();
			}
		}
		EtcdServer.reunite(etcd());
	}

	private List<EtcdServer> etcd() {
		return this.servers.stream().filter(EtcdServer.class::isInstance).map(EtcdServer.class::cast).toList();
	}

	/** Promotes the replica of a Redis that a sentinel monitors. */
	void failOver() {
		RedisSentinel group = Objects.requireNonNull(this.sentinel, "nothing watches this store");
		group.stopReplication();
		group.failOver();
		group.reunite();
	}

	/** Returns new proxies; empty if the servers tell clients their addresses. */
	List<TcpProxy> wires() {
		return ((this.sentinel != null) ? List.<ServerProcess>of() : this.servers).stream()
			.map((server) -> TcpProxy.to(server.port()))
			.toList();
	}

	/**
	 * Returns the arguments of a process that reaches the store through these proxies.
	 */
	List<String> arguments(List<TcpProxy> wires) {
		List<Integer> ports = wires.stream().map(TcpProxy::port).toList();
		List<String> arguments = new ArrayList<>(
				List.of("--distributed-lock.backend=" + this.name.replaceFirst("-.*", ""),
						"--distributed-lock.lease-time=" + LEASE_SECONDS + "s"));
		switch (this.name) {
			case "redis" -> arguments.add("--distributed-lock.redis.address=redis://127.0.0.1:" + ports.get(0));
			case "redis-sentinel" -> arguments.add("--sentinel=" + sentinelAddress());
			case "redlock" -> arguments.addAll(List.of("--distributed-lock.redlock.nodes=" + all("redis", ports),
					"--distributed-lock.redlock.node-timeout=250ms"));
			case "zookeeper" -> arguments.addAll(List.of("--spring.cloud.zookeeper.connect-string=" + hosts(ports),
					"--spring.cloud.zookeeper.enabled=true", "--spring.cloud.zookeeper.session-timeout=2s"));
			case "etcd" -> arguments.add("--distributed-lock.etcd.endpoints=" + all("http", ports));
			case "jdbc" -> arguments.add("--distributed-lock.jdbc.initialize-schema=always");
			case "jdbc-advisory" -> arguments.addAll(
					List.of("--distributed-lock.jdbc.initialize-schema=always", "--distributed-lock.jdbc.mode=advisory",
							"--distributed-lock.jdbc.advisory.max-connections=" + CONNECTIONS));
			default -> {
			}
		}
		return arguments;
	}

	/** Returns the configuration classes that the application needs for this store. */
	List<Class<?>> sources() {
		return (this.sentinel != null) ? List.of(SentinelClient.class) : List.of();
	}

	private String sentinelAddress() {
		return Objects.requireNonNull(this.sentinel).sentinel().address();
	}

	private static String hosts(List<Integer> ports) {
		return ports.stream().map((port) -> "127.0.0.1:" + port).collect(Collectors.joining(","));
	}

	private static String all(String scheme, List<Integer> ports) {
		return ports.stream().map((port) -> scheme + "://127.0.0.1:" + port).collect(Collectors.joining(","));
	}

	@Override
	public void close() {
		this.servers.forEach(ServerProcess::close);
		if (this.sentinel != null) {
			this.sentinel.close();
		}
	}

}
