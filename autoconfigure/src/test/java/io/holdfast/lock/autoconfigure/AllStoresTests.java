package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications with several stores, and with each of them, on real servers.
 */
class AllStoresTests {

	private static final int CALLERS = 8;

	private static final int COUNTERS = 4;

	private static final int ROUNDS = 10;

	private static final List<AutoCloseable> SERVERS = new ArrayList<>();

	/** Configures one store each. */
	private static final Map<String, UnaryOperator<ApplicationContextRunner>> STORES = new LinkedHashMap<>();

	@BeforeAll
	static void startServers() {
		List<RedisServer> redis = Stream.generate(() -> started(RedisServer.started())).limit(4).toList();
		ZooKeeperServer zooKeeper = started(ZooKeeperServer.started());
		EtcdServer etcd = started(EtcdServer.started());
		PostgresServer postgres = started(PostgresServer.started());
		String nodes = redis.stream().skip(1).map(RedisServer::address).collect(Collectors.joining(","));
		STORES.put("local", UnaryOperator.identity());
		STORES.put("redis",
				(runner) -> runner.withConfiguration(AutoConfigurations.of(RedisLockAutoConfiguration.class))
					.withPropertyValues("distributed-lock.redis.address=" + redis.get(0).address()));
		STORES.put("redlock",
				(runner) -> runner.withConfiguration(AutoConfigurations.of(RedlockLockAutoConfiguration.class))
					// otherwise new nodes vote only after the longest lease
					.withPropertyValues("distributed-lock.redlock.nodes=" + nodes,
							"distributed-lock.redlock.restart-quarantine=false",
							"distributed-lock.redlock.node-timeout=1s"));
		STORES.put("zookeeper",
				(runner) -> runner.withConfiguration(AutoConfigurations.of(ZooKeeperLockAutoConfiguration.class))
					.withBean(CuratorFramework.class,
							() -> CuratorFrameworkFactory.newClient(zooKeeper.connectString(), new RetryOneTime(100)))
					.withPropertyValues("distributed-lock.zookeeper.base-path=/locks"));
		STORES.put("etcd", (runner) -> runner.withConfiguration(AutoConfigurations.of(EtcdLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.etcd.endpoints=" + etcd.endpoint()));
		STORES.put("jdbc", (runner) -> runner
			.withConfiguration(
					AutoConfigurations.of(JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("distributed-lock.jdbc.table=holdfast_lock",
					"distributed-lock.jdbc.initialize-schema=always", "spring.datasource.url=" + postgres.jdbcUrl(),
					"spring.datasource.username=" + PostgresServer.USERNAME, "spring.datasource.password=any",
					"spring.datasource.hikari.maximum-pool-size=20"));
	}

	/** Returns an application that configures only this store. */
	private static ApplicationContextRunner runner(String store) {
		return STORES.get(store)
			.apply(new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
						LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
						SslAutoConfiguration.class, AopAutoConfiguration.class))
				// a busy machine may be slower than the default allows
				.withPropertyValues("distributed-lock.backend=local", "distributed-lock.lease-time=5s",
						"distributed-lock.response-timeout=20s"));
	}

	private static <T extends AutoCloseable> T started(T server) {
		SERVERS.add(server);
		return server;
	}

	@AfterAll
	static void stopServers() throws Exception {
		for (AutoCloseable server : SERVERS) {
			server.close();
		}
	}

	@Slow
	@Test
	void everyAnnotationPicksItsStore() {
		ApplicationContextRunner all = runner("local").withBean(Shop.class);
		for (UnaryOperator<ApplicationContextRunner> store : STORES.values()) {
			all = store.apply(all);
		}
		all.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			assertThat(shop.inTheDefault(null)).isEqualTo("local");
			assertThat(shop.inRedis(null)).isEqualTo("redis");
			assertThat(shop.inRedlock(null)).isEqualTo("redlock");
			assertThat(shop.inZooKeeper(null)).isEqualTo("zookeeper");
			assertThat(shop.inEtcd(null)).isEqualTo("etcd");
			assertThat(shop.inTheDatabase(null)).isEqualTo("jdbc");
		});
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "local", "redis", "redlock", "zookeeper", "etcd", "jdbc" })
	void interruptedThreadReleasesItsLockAndKeepsItsFlag(String store) {
		runner(store).withPropertyValues("distributed-lock.await-release=true").run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			LockRequest request = LockRequest.forLock(LockName.of("interrupted"))
				.backend(store)
				.waitTime(Duration.ZERO)
				.build();
			LockHandle handle = locks.acquire(request);
			Thread.currentThread().interrupt();
			handle.close();
			assertThat(Thread.interrupted()).as("the flag").isTrue();
			// without a wait, a lock that is still held would fail this
			locks.acquire(request).close();
		});
	}

	/** A rolling restart right after a scheduled job must not run the job again. */
	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "etcd", "jdbc" })
	void minHoldOutlivesTheApplicationAndTheLeaseDoesNot(String store) {
		Duration minHold = Duration.ofSeconds(2);
		LockRequest.Builder request = LockRequest.forLock(LockName.of("restarted")).backend(store);
		AtomicLong asked = new AtomicLong();
		runner(store).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			asked.set(System.nanoTime());
			locks.acquire(request.minHold(minHold).leaseTime(Duration.ofMinutes(10)).build()).close();
		});
		runner(store).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			locks.acquire(request.minHold(Duration.ZERO).waitTime(Duration.ofMinutes(1)).build()).close();
			Duration closed = Duration.ofNanos(System.nanoTime() - asked.get());
			assertThat(closed).isGreaterThan(minHold);
		});
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "zookeeper", "etcd", "jdbc" })
	void namespacesSeparateLocks(String store) {
		LockRequest request = LockRequest.forLock(LockName.of("namespaced"))
			.backend(store)
			.waitTime(Duration.ZERO)
			.build();
		runner(store).run((one) -> {
			try (LockHandle held = one.getBean(LockOperations.class).acquire(request)) {
				runner(store).run((same) -> assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> same.getBean(LockOperations.class).acquire(request)));
				runner(store).withPropertyValues("distributed-lock.namespace=other")
					.run((other) -> other.getBean(LockOperations.class).acquire(request).close());
				assertThat(held.isHeld()).isTrue();
			}
		});
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "local", "redis", "redlock", "zookeeper", "etcd", "jdbc" })
	void callersWithTheSameLocksInAnyOrderNeverDeadlock(String store) {
		runner(store).run((one) -> runner(store).run((other) -> {
			long[] counters = new long[COUNTERS];
			ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
			try {
				List<Future<Long>> runs = IntStream.range(0, CALLERS)
					.mapToObj((i) -> threads.submit(() -> count(locks(store, i, one, other), store, i, counters)))
					.toList();
				long expected = 0;
				for (Future<Long> run : runs) {
					expected += run.get(60, TimeUnit.SECONDS);
				}
				assertThat(Arrays.stream(counters).sum()).isEqualTo(expected);
			}
			finally {
				threads.shutdownNow();
			}
		}));
	}

	/** Each caller could acquire some of the locks, so that all callers fail. */
	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "local", "redis", "zookeeper", "etcd", "jdbc" })
	void oneOfTenCallersThatDoNotWaitGetsSeveralFreeLocks(String store) {
		runner(store).run((one) -> runner(store).run((other) -> {
			ExecutorService threads = Executors.newFixedThreadPool(10);
			try {
				for (int round = 0; round < 20; round++) {
					LockRequest request = severalLocks(store, round);
					CyclicBarrier start = new CyclicBarrier(10);
					List<Future<Optional<LockHandle>>> callers = IntStream.range(0, 10)
						.mapToObj((i) -> threads.submit(() -> {
							start.await();
							return locks(store, i, one, other).tryAcquire(request);
						}))
						.toList();
					List<LockHandle> holders = new ArrayList<>();
					for (Future<Optional<LockHandle>> caller : callers) {
						caller.get(60, TimeUnit.SECONDS).ifPresent(holders::add);
					}
					assertThat(holders).as("round %d", round).hasSize(1);
					holders.forEach(LockHandle::close);
				}
			}
			finally {
				threads.shutdownNow();
			}
		}));
	}

	private static LockRequest severalLocks(String store, int round) {
		return LockRequest
			.forLocks(IntStream.range(0, 4).mapToObj((i) -> LockName.of("several", round + "-" + i)).toList())
			.backend(store)
			.waitTime(Duration.ZERO)
			.build();
	}

	/**
	 * Returns one of two applications. In-memory locks do not exclude other applications.
	 */
	private static LockOperations locks(String store, int caller, AssertableApplicationContext one,
			AssertableApplicationContext other) {
		return ((caller % 2 == 0 || store.equals("local")) ? one : other).getBean(LockOperations.class);
	}

	/**
	 * Increments random counters under their locks. Without the locks, updates would be
	 * lost.
	 */
	private static long count(LockOperations locks, String store, int seed, long[] counters) {
		Random random = new Random(seed);
		long counted = 0;
		for (int n = 0; n < ROUNDS; n++) {
			List<Integer> keys = random.ints(3, 0, COUNTERS).boxed().toList();
			LockRequest request = LockRequest
				.forLocks(keys.stream().map((key) -> LockName.of("counter", "" + key)).toList())
				.backend(store)
				.waitTime(Duration.ofSeconds(50))
				.build();
			counted += locks.<Long, RuntimeException>execute(request, (handle) -> {
				keys.stream().distinct().forEach((key) -> counters[key]++);
				return keys.stream().distinct().count();
			});
		}
		return counted;
	}

	/**
	 * Returns the backend of each lock.
	 */
	static class Shop {

		@DistributedLock(name = "stock", key = "'42'")
		String inTheDefault(LockHandle handle) {
			return handle.backend();
		}

		@DistributedLock(name = "stock", key = "'42'", backend = "redis")
		String inRedis(LockHandle handle) {
			return handle.backend();
		}

		@DistributedLock(name = "stock", key = "'42'", backend = "redlock")
		String inRedlock(LockHandle handle) {
			return handle.backend();
		}

		@DistributedLock(name = "stock", key = "'42'", backend = "zookeeper")
		String inZooKeeper(LockHandle handle) {
			return handle.backend();
		}

		@DistributedLock(name = "stock", key = "'42'", backend = "etcd")
		String inEtcd(LockHandle handle) {
			return handle.backend();
		}

		@DistributedLock(name = "stock", key = "'42'", backend = "jdbc")
		String inTheDatabase(LockHandle handle) {
			return handle.backend();
		}

	}

}
