package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.ZooKeeperServer;

/**
 * The servers of one store: one, or several for {@code redlock}, five by default.
 */
final class Servers implements AutoCloseable {

	/**
	 * The default of ZooKeeper. With less, the locks of a library vanish between its
	 * rounds.
	 */
	private static final Duration EMPTY_NODES = Duration.ofMinutes(1);

	private static final int NODES = 5;

	private final String store;

	private final List<ServerProcess> servers = new ArrayList<>();

	private final @Nullable PostgresServer database;

	Servers(String store) {
		this(store, NODES);
	}

	Servers(String store, int nodes) {
		this.store = store;
		this.database = store.equals("jdbc") ? PostgresServer.started() : null;
		switch (store) {
			case "redis" -> this.servers.add(RedisServer.started());
			case "redlock" -> {
				for (int i = 0; i < nodes; i++) {
					this.servers.add(RedisServer.started());
				}
			}
			case "zookeeper" -> this.servers.add(ZooKeeperServer.started(EMPTY_NODES));
			case "etcd" -> this.servers.add(EtcdServer.started());
			default -> {
			}
		}
	}

	String store() {
		return this.store;
	}

	String ports() {
		return this.servers.stream().map((server) -> Integer.toString(server.port())).collect(Collectors.joining(","));
	}

	/** Each process has its own database in memory. */
	String url() {
		return (this.database != null) ? this.database.jdbcUrl() : "jdbc:h2:mem:benchmark;DB_CLOSE_DELAY=-1";
	}

	/** Returns the arguments of an application with this library. */
	List<String> arguments() {
		List<String> arguments = new ArrayList<>(List.of("--logging.level.root=warn", "--spring.main.banner-mode=off",
				"--spring.flyway.enabled=false", "--distributed-lock.fencing.enabled=false",
				"--distributed-lock.wait-time=" + Contender.WAIT_SECONDS + "s", "--spring.datasource.url=" + url(),
				"--spring.datasource.hikari.maximum-pool-size=20", "--spring.datasource.hikari.minimum-idle=1",
				"--distributed-lock.backend=" + (this.store.equals("h2") ? "jdbc" : this.store)));
		switch (this.store) {
			case "redis" -> arguments.add("--distributed-lock.redis.address=" + all("redis"));
			case "redlock" -> arguments.add("--distributed-lock.redlock.nodes=" + all("redis"));
			case "zookeeper" -> arguments.addAll(List.of("--spring.cloud.zookeeper.enabled=true",
					"--spring.cloud.zookeeper.connect-string=127.0.0.1:" + ports()));
			case "etcd" -> arguments.add("--distributed-lock.etcd.endpoints=" + all("http"));
			case "jdbc", "h2" -> arguments.add("--distributed-lock.jdbc.initialize-schema=always");
			default -> {
			}
		}
		return arguments;
	}

	/**
	 * Returns the arguments of an application in this process, which excludes the
	 * auto-configuration of a library that is compared elsewhere and needs more than this
	 * application has.
	 * @param more further arguments
	 */
	String[] argumentsOfThisProcess(String... more) {
		List<String> arguments = new ArrayList<>(arguments());
		arguments.addAll(List.of(more));
		arguments
			.add("--spring.autoconfigure.exclude=com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration,"
					+ "com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration,"
					+ "com.baomidou.lock.spring.boot.autoconfigure.RedissonLockAutoConfiguration");
		return arguments.toArray(String[]::new);
	}

	/**
	 * Returns how many requests, or writing transactions of a database, all servers have
	 * counted.
	 */
	long requests() throws IOException {
		long sum = (this.database != null) ? transactions(this.database) : 0;
		for (ServerProcess server : this.servers) {
			if (server instanceof RedisServer redis) {
				sum += number(redis.ask("info", "stats"), "total_reads_processed:(\\d+)");
			}
			else if (server instanceof ZooKeeperServer zookeeper) {
				sum += number(zookeeper.ask("mntr"), "zk_packets_received\\s+(\\d+)");
			}
			else if (server instanceof EtcdServer etcd) {
				sum += number(etcd.ask("/metrics"), "grpc_server_handled_total\\{[^}]*} ([\\d.e+]+)");
			}
		}
		return sum;
	}

	/** The statistics of the server would lag by up to a second. */
	private static long transactions(PostgresServer database) {
		return Objects.requireNonNull(new JdbcTemplate(new DriverManagerDataSource(database.jdbcUrl()))
			.queryForObject("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint", Long.class));
	}

	/** Returns how many keys all servers keep; zero for a database. */
	long keys() throws IOException {
		long sum = 0;
		for (ServerProcess server : this.servers) {
			if (server instanceof RedisServer redis) {
				sum += number(redis.ask("dbsize"), "(\\d+)");
			}
			else if (server instanceof ZooKeeperServer zookeeper) {
				sum += number(zookeeper.ask("mntr"), "zk_znode_count\\s+(\\d+)");
			}
			else if (server instanceof EtcdServer etcd) {
				sum += number(etcd.ask("/metrics"), "etcd_debugging_mvcc_keys_total ([\\d.e+]+)");
			}
		}
		return sum;
	}

	private static long number(String text, String pattern) {
		return (long) Pattern.compile(pattern)
			.matcher(text)
			.results()
			.mapToDouble((match) -> Double.parseDouble(match.group(1)))
			.sum();
	}

	private String all(String scheme) {
		return this.servers.stream()
			.map((server) -> scheme + "://127.0.0.1:" + server.port())
			.collect(Collectors.joining(","));
	}

	@Override
	public void close() {
		this.servers.forEach(ServerProcess::close);
		if (this.database != null) {
			this.database.close();
		}
	}

}
