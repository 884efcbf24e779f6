package io.holdfast.lock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that all applications start if they are launched at the same moment, each in its
 * own process. They keep the machine so busy that each takes many times longer than
 * alone.
 */
@Slow
class StartTogetherTests {

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	private static final int INSTANCES = 10;

	private static final int BUSY_THREADS = THOROUGH ? 4 : 0;

	private static final int LONGEST_MINUTES = 5;

	private static List<RedisServer> redis;

	private static ZooKeeperServer zooKeeper;

	private static EtcdServer etcd;

	private static PostgresServer postgres;

	@TempDir
	private Path logs;

	@BeforeAll
	static void startServers() {
		redis = Stream.generate(RedisServer::started).limit(3).toList();
		zooKeeper = ZooKeeperServer.started();
		etcd = EtcdServer.started();
		postgres = PostgresServer.started();
	}

	@AfterAll
	static void stopServers() {
		redis.forEach(ServerProcess::close);
		List.of(zooKeeper, etcd, postgres).forEach(ServerProcess::close);
	}

	/**
	 * Two instances that create the same tables and one on another store, or ten on each
	 * store beside other work.
	 */
	static Stream<List<String>> stores() {
		return THOROUGH
				? Stream.of("redis", "redlock", "zookeeper", "etcd", "jdbc", "local")
					.map((store) -> Collections.nCopies(INSTANCES, store))
				: Stream.of(List.of("jdbc", "jdbc", "zookeeper"));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void allInstancesStart(List<String> stores) throws Exception {
		List<Thread> busy = Stream.generate(() -> new Thread(StartTogetherTests::work)).limit(BUSY_THREADS).toList();
		busy.forEach(Thread::start);
		try {
			assertInstancesStart(stores);
		}
		finally {
			busy.forEach(Thread::interrupt);
		}
	}

	private static void work() {
		while (!Thread.currentThread().isInterrupted()) {
			Thread.onSpinWait();
		}
	}

	private void assertInstancesStart(List<String> stores) throws Exception {
		List<Process> instances = new ArrayList<>();
		try {
			for (String store : stores) {
				instances.add(start(store, log(instances.size())));
			}
			for (Process instance : instances) {
				assertThat(instance.waitFor(LONGEST_MINUTES, TimeUnit.MINUTES)).as("end of an instance").isTrue();
			}
			for (int i = 0; i < instances.size(); i++) {
				assertThat(instances.get(i).exitValue()).as("exit code of an instance that says%n%s", said(i)).isZero();
			}
		}
		finally {
			instances.forEach(Process::destroyForcibly);
		}
	}

	private Path log(int number) {
		return this.logs.resolve(number + ".log");
	}

	private String said(int number) {
		try {
			return Files.readString(log(number));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Process start(String store, Path log) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
						"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
						StartedApplication.class.getName(), "--distributed-lock.backend=" + store));
		command.addAll(arguments(store));
		return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
	}

	private static List<String> arguments(String store) {
		return switch (store) {
			case "redis" -> List.of("--distributed-lock.redis.address=" + redis.get(0).address());
			case "redlock" ->
				List.of("--distributed-lock.redlock.restart-quarantine=false", "--distributed-lock.redlock.nodes="
						+ redis.stream().map(RedisServer::address).collect(Collectors.joining(",")));
			case "zookeeper" -> List.of("--zookeeper=" + zooKeeper.connectString());
			case "etcd" -> List.of("--distributed-lock.etcd.endpoints=" + etcd.endpoint());
			case "jdbc" -> List.of("--distributed-lock.jdbc.initialize-schema=always",
					"--spring.datasource.url=" + postgres.jdbcUrl(), "--spring.datasource.hikari.maximum-pool-size=2",
					"--spring.datasource.username=" + PostgresServer.USERNAME);
			default -> List.of();
		};
	}

}
