package io.holdfast.sample;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class ProfileTests {

	@Test
	void needsNoServerByDefaultAndLogsIt(CapturedOutput output) {
		try (RunningSample sample = RunningSample.start()) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("page       http://localhost:" + sample.port() + "/\n")
				.contains("locks in   local")
				.contains("stock in   H2 at jdbc:h2:mem:")
				.contains(sample.port() + "/products/42/orders?quantity=1'");
		}
	}

	@Test
	void keepsItsStockInPostgres(CapturedOutput output) {
		try (PostgresServer database = PostgresServer.started();
				RunningSample sample = RunningSample.start("--spring.profiles.active=postgres",
						"--spring.datasource.url=" + database.jdbcUrl(),
						"--spring.datasource.username=" + PostgresServer.USERNAME,
						"--spring.datasource.password=not-to-be-seen")) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			sample.order(42, "quantity=1&lock=inside").expectStatus().isCreated();
			assertThat(sample.stock(42)).isEqualTo(98);
			sample.sell("holdfast", "local", 2);
			assertThat(sample.stock(1000)).isEqualTo(98);
			assertThat(output).contains("stock in   PostgreSQL at jdbc:postgresql://127.0.0.1:" + database.port())
				.doesNotContain("not-to-be-seen");
		}
	}

	@Test
	void keepsItsLocksInRedis(CapturedOutput output) {
		try (RedisServer redis = RedisServer.started(); RunningSample sample = onRedis(redis, "30s")) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("locks in   redis");
		}
	}

	@Test
	void keepsItsLocksInZooKeeper(CapturedOutput output) {
		try (ZooKeeperServer zooKeeper = ZooKeeperServer.started();
				RunningSample sample = RunningSample.start("--spring.profiles.active=zookeeper",
						"--spring.cloud.zookeeper.connect-string=" + zooKeeper.connectString())) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("locks in   zookeeper");
		}
	}

	@Test
	void keepsItsLocksInEtcd(CapturedOutput output) {
		try (EtcdServer etcd = EtcdServer.started();
				RunningSample sample = RunningSample.start("--spring.profiles.active=etcd",
						"--distributed-lock.etcd.endpoints=" + etcd.endpoint())) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("locks in   etcd");
		}
	}

	@Test
	void keepsItsLocksInItsDatabase(CapturedOutput output) {
		try (RunningSample sample = RunningSample.start("--spring.profiles.active=jdbc")) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("locks in   jdbc");
		}
	}

	@Slow
	@Test
	void refusesOrdersWhileRedisIsGoneAndRecovers() {
		try (RedisServer redis = RedisServer.started(); RunningSample sample = onRedis(redis, "2s")) {
			redis.kill();
			sample.order(42, "quantity=1")
				.expectStatus()
				.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON);
			assertThat(sample.stock(42)).isEqualTo(100);
			redis.start();
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> sample.order(42, "quantity=1").expectStatus().isCreated());
			assertThat(sample.stock(42)).isEqualTo(99);
		}
	}

	@Slow
	@Test
	void keepsItsLocksOnThreeRedisMastersOfWhichOneDies(CapturedOutput output) {
		List<RedisServer> nodes = Stream.generate(() -> RedisServer.started()).limit(3).toList();
		String addresses = nodes.stream().map(RedisServer::address).collect(Collectors.joining(","));
		// otherwise new nodes vote only after the longest lease
		try (RunningSample sample = RunningSample.start("--spring.profiles.active=redlock",
				"--distributed-lock.redlock.nodes=" + addresses, "--distributed-lock.lease-time=3s",
				"--distributed-lock.redlock.node-timeout=500ms", "--distributed-lock.wait-time=15s")) {
			sample.order(42, "quantity=1").expectStatus().isCreated();
			nodes.get(1).kill();
			sample.order(42, "quantity=1").expectStatus().isCreated();
			assertThat(output).contains("locks in   redlock");
		}
		finally {
			nodes.forEach(RedisServer::close);
		}
	}

	private static RunningSample onRedis(RedisServer redis, String waitTime) {
		return RunningSample.start("--spring.profiles.active=redis",
				"--distributed-lock.redis.address=" + redis.address(), "--distributed-lock.wait-time=" + waitTime);
	}

}
