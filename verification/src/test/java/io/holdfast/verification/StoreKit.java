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
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.RedisSentinel;
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
 * The servers of one store, how a process of the sample reaches them (over wires of its
 * own), and which faults it can have.
 */
final class StoreKit implements AutoCloseable {

	/**
	 * Short, so that a pause of some seconds outlives it; the shortest that etcd keeps.
	 */
	static final int LEASE_SECONDS = 2;

	private static final int SEVERAL = 3;

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
			case "redis-sentinel" -> watched(RedisSentinel.started());
			case "redlock" -> new StoreKit(name, several(RedisServer::started), null);
			case "zookeeper" -> new StoreKit(name, ZooKeeperServer.ensemble(SEVERAL), null);
			case "etcd" -> new StoreKit(name, EtcdServer.cluster(SEVERAL), null);
			default -> new StoreKit(name, List.of(), null);
		};
	}

	private static StoreKit watched(RedisSentinel sentinel) {
		return new StoreKit("redis-sentinel", List.of(sentinel.primary(), sentinel.replica()), sentinel);
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

	/** The faults that this store can have. */
	Set<Fault> faults() {
		Set<Fault> faults = EnumSet.of(PAUSED_BEFORE_BODY, PAUSED_IN_BODY, PAUSED_BEFORE_COMMIT, KILLED, DATABASE_CUT,
				COMMIT_UNANSWERED, COMMIT_SLOW, PROCESS_CLOCK_MOVED, BURST_OF_OTHERS, DATABASE_PAUSED);
		if (processes() > 1) {
			faults.addAll(EnumSet.of(WAITER_PAUSED_BELOW_DEADLINE, WAITER_PAUSED_ACROSS_DEADLINE,
					WAITER_PAUSED_BEYOND_DEADLINE));
		}
		faults.addAll(switch (this.name) {
			// the tokens of a clock that was ahead must not be forgotten, so this one is
			// always right
			case "redis" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, STORE_PAUSED, STORE_RESTARTED,
					STORE_FLUSHED);
			case "redis-sentinel" -> EnumSet.of(STORE_FAILED_OVER, STORE_CLOCK_MOVED);
			case "redlock" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED, QUORUM_PAUSED,
					STORE_RESTARTED, STORE_FLUSHED, STORE_CLOCK_MOVED);
			case "zookeeper" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBERS_DIVIDED, MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED,
					QUORUM_PAUSED, STORE_RESTARTED, LEADER_KILLED, STORE_CLOCK_MOVED);
			// its clock cannot be moved for it alone
			case "etcd" -> EnumSet.of(WIRE_CUT, WIRE_SILENT, WIRE_SLOW, ANSWERS_LATE, PROCESSES_DIVIDED,
					MEMBERS_DIVIDED, MEMBER_KILLED_AFTER_ANSWER, MEMBER_PAUSED_AFTER_ANSWER, STORE_PAUSED,
					QUORUM_PAUSED, STORE_RESTARTED, LEADER_KILLED);
			case "jdbc" -> EnumSet.of(STORE_CLOCK_MOVED);
			default -> EnumSet.noneOf(Fault.class);
		});
		return faults;
	}

	/** The server that leads, of a store that has one, as soon as it has. */
	ServerProcess leader() throws InterruptedException {
		for (int i = 0; i < LONGEST_ELECTION_SECONDS * 10; i++) {
			for (ServerProcess server : this.servers) {
				if (leads(server)) {
					return server;
				}
			}
			TimeUnit.MILLISECONDS.sleep(100);
		}
		throw new IllegalStateException(
				"No server of %s leads after %d s".formatted(this.name, LONGEST_ELECTION_SECONDS));
	}

	private static boolean leads(ServerProcess server) {
		return (server instanceof ZooKeeperServer zookeeper && zookeeper.isLeader())
				|| (server instanceof EtcdServer etcd && etcd.isLeader());
	}

	/** Separate the server that leads from the others, though not from its clients. */
	void divide() throws IOException, InterruptedException {
		ServerProcess leader = leader();
		if (leader instanceof ZooKeeperServer zookeeper) {
			zookeeper.separateFromFollowers();
		}
		else if (leader instanceof EtcdServer etcd) {
			etcd.separateFrom(etcd().stream().filter((other) -> other != leader).toList());
		}
	}

	/** Let all servers reach each other again. */
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

	/** Let the replica take over that a sentinel watches. */
	void failOver() {
		RedisSentinel group = Objects.requireNonNull(this.sentinel, "nothing watches this store");
		group.forgetWhatComesNow();
		group.failOver();
		group.reunite();
	}

	/** None where clients are told by the servers where those are. */
	List<TcpProxy> wires() {
		return ((this.sentinel != null) ? List.<ServerProcess>of() : this.servers).stream()
			.map((server) -> TcpProxy.to(server.port()))
			.toList();
	}

	/** The command line of a process that reaches the store over these wires. */
	List<String> arguments(List<TcpProxy> wires) {
		return argumentsFor(wires.stream().map(TcpProxy::port).toList());
	}

	/**
	 * The command line of a process that reaches the servers of the store directly. Where
	 * any of them serves a client, all such processes have the same one, because one that
	 * leads answers sooner.
	 */
	List<String> argumentsForServers() {
		List<Integer> ports = this.servers.stream().map(ServerProcess::port).toList();
		return argumentsFor(this.name.equals("redlock") ? ports : ports.stream().limit(1).toList());
	}

	private List<String> argumentsFor(List<Integer> ports) {
		List<String> arguments = new ArrayList<>(
				List.of("--distributed-lock.backend=" + this.name.replace("-sentinel", ""),
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
			default -> {
			}
		}
		return arguments;
	}

	/** What to add to the application, so that it finds this store. */
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
