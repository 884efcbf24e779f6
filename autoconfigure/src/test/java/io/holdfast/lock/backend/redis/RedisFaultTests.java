package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for problems that others have reported with locks in Redis, and with Redis
 * itself.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(RedisLibrary.class)
class RedisFaultTests {

	@Parameter
	private RedisLibrary library;

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final String KEY = "test:{" + LOCK + "}:lock";

	/** A script that writes half a megabyte. */
	private static final String FILL = """
			local time = redis.call('TIME')
			for i = 1, 500 do
			  redis.call('SET', KEYS[1] .. time[1] .. time[2] .. i, string.rep('x', 1000))
			end""";

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void closeAll() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	private <T extends AutoCloseable> T open(T resource) {
		this.opened.add(resource);
		return resource;
	}

	private RedisServer server(String... settings) {
		return open(RedisServer.started(settings));
	}

	private RedisLockBackend backend(RedisServer server) {
		return open(this.library.backend(server.address(), TestRedis.options(0)));
	}

	private RedisLockBackend backend(TcpProxy wire, int waitReplicas) {
		return open(this.library.backend("redis://" + ServerProcess.HOST + ":" + wire.port(),
				TestRedis.options(waitReplicas)));
	}

	private TcpProxy wire(RedisServer server) {
		return open(TcpProxy.to(server.port()));
	}

	private LockEngine engine(RedisLockBackend backend) {
		return engine(backend, EngineSettings.DEFAULTS);
	}

	private LockEngine engine(RedisLockBackend backend, EngineSettings settings) {
		return open(new LockEngine(new LockBackends(List.of(backend), "redis"), settings, TransactionBoundary.NONE,
				List.of()));
	}

	private static LockRequest request(Duration waitTime) {
		return LockRequest.forLock(LOCK).waitTime(waitTime).build();
	}

	@Slow
	@Test
	void waitersForHundredsOfLocksListenOnOneConnection() throws Exception {
		RedisServer server = server();
		RedisLockBackend holding = backend(server);
		RedisLockBackend waiting = backend(server);
		List<Grant> held = new ArrayList<>();
		List<Claim> claims = new ArrayList<>();
		List<CompletionStage<?>> signals = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			LockName lock = LockName.of("n" + i);
			held.add(granted(holding, claim(lock)));
			claims.add(claim(lock));
			signals.add(refused(waiting, claims.get(i)));
		}
		assertThat(server.ask("pubsub", "channels").lines()).as("one channel for each client").hasSize(2);
		assertThat(server.ask("client", "list", "type", "pubsub").lines()).hasSize(2)
			.allMatch((client) -> client.contains(" sub=1 "));
		for (Grant grant : held) {
			released(holding, grant);
		}
		CompletableFuture<?>[] all = signals.stream()
			.map(CompletionStage::toCompletableFuture)
			.toArray(CompletableFuture[]::new);
		assertThat(CompletableFuture.allOf(all)).succeedsWithin(BOUND);
		for (Claim claim : claims) {
			released(waiting, granted(waiting, claim));
		}
	}

	@Slow
	@Test
	void waiterWithoutNotificationRetriesBeforeTheLeaseEnds() throws Exception {
		RedisServer server = server();
		TcpProxy wire = wire(server);
		RedisLockBackend holding = backend(server);
		Grant held = granted(holding, claim(LOCK));
		LockEngine engine = engine(backend(wire, 0));
		wire.dropReplies("message");
		CompletableFuture<Void> acquired = CompletableFuture
			.runAsync(() -> engine.acquire(request(Duration.ofMinutes(1))).close());
		Awaitility.await().until(() -> server.ask("zcard", "test:{" + LOCK + "}:waiters").equals("1"));
		released(holding, held);
		assertThat(acquired).succeedsWithin(held.lease().dividedBy(4));
		assertThat(wire.droppedReplies()).isPositive();
	}

	@Test
	void unreplicatedLockIsLostWithItsPrimaryAndTokensGrow() throws Exception {
		RedisServer primary = server();
		TcpProxy replication = wire(primary);
		RedisServer replica = open(replica(primary, replication));
		TcpProxy wire = wire(primary);
		RedisLockBackend backend = backend(wire, 0);
		replication.stall();
		Grant held = granted(backend, claim(LOCK));
		promote(primary, replica, wire);
		Grant second = soonGranted(backend(replica), claim(LOCK));
		assertThat(second.storeToken()).isGreaterThan(held.storeToken());
		Awaitility.await()
			.atMost(BOUND)
			.until(() -> renewed(backend, held), (result) -> !(result instanceof RenewResult.Indeterminate));
		assertThat(renewed(backend, held)).isInstanceOf(RenewResult.Refused.class);
	}

	@Test
	void unreplicatedGrantDoesNotCountIfReplicasAreAwaited() throws Exception {
		RedisServer primary = server();
		TcpProxy replication = wire(primary);
		RedisServer replica = open(replica(primary, replication));
		TcpProxy wire = wire(primary);
		RedisLockBackend careful = backend(wire, 1);
		Grant before = granted(careful, claim(LOCK));
		released(careful, before);
		Awaitility.await("the replica receives the release")
			.atMost(BOUND)
			.until(() -> !replica.keys("*").contains("test:{" + LOCK + "}:lock"));
		replication.stall();
		assertThat(ask(careful, claim(LOCK))).isInstanceOf(AcquireResult.Indeterminate.class);
		promote(primary, replica, wire);
		assertThat(replica.keys("*")).containsExactly("test:{" + LOCK + "}:token");
		assertThat(soonGranted(backend(replica), claim(LOCK)).storeToken()).isGreaterThan(before.storeToken());
	}

	private static RedisServer replica(RedisServer primary, TcpProxy replication) {
		RedisServer replica = RedisServer.started("replicaof " + ServerProcess.HOST + " " + replication.port());
		Awaitility.await().atMost(BOUND).until(() -> primary.ask("info", "replication").contains("state=online"));
		return replica;
	}

	/**
	 * Promotes the replica, as a failover monitor does. Clients then find the replica at
	 * the address of the primary.
	 */
	private static void promote(RedisServer primary, RedisServer replica, TcpProxy wire) {
		primary.kill();
		replica.ask("replicaof", "no", "one");
		wire.redirectTo(replica.port());
	}

	@Slow
	@Test
	void lockEvictedByRedisIsLostAtTheNextRenewal() {
		RedisServer server = server("maxmemory-policy allkeys-lru", "maxmemory-samples 10");
		LockEngine engine = engine(backend(server));
		AtomicBoolean lost = new AtomicBoolean();
		try (LockHandle handle = engine
			.acquire(request(Duration.ZERO).toBuilder().leaseTime(Duration.ofSeconds(9)).build())) {
			handle.onLost((event) -> lost.set(true));
			server.ask("config", "set", "maxmemory", "4mb");
			Awaitility.await().atMost(BOUND).until(() -> {
				server.ask("eval", FILL, "1", "other");
				return server.ask("exists", KEY).equals("0");
			});
			Awaitility.await().atMost(BOUND).untilTrue(lost);
			assertThat(handle.isHeld()).isFalse();
		}
	}

	@Slow
	@Test
	void requestsToALoadingServerHaveAnUnknownOutcome() throws Exception {
		RedisServer server = server("key-load-delay 1000", "loading-process-events-interval-bytes 1024");
		RedisLockBackend backend = backend(server);
		Grant held = granted(backend, claim(LOCK));
		server.ask("eval", "for i = 1, 3000 do redis.call('SET', KEYS[1] .. i, 'x') end", "1", "other");
		server.ask("save");
		server.kill();
		CompletableFuture<Void> starting = CompletableFuture.runAsync(server::start);
		Awaitility.await().atMost(BOUND).until(() -> ask(backend, claim(LOCK)), RedisFaultTests::isLoading);
		assertThat(starting).succeedsWithin(BOUND);
		soonRenewed(backend, held);
		released(backend, held);
	}

	private static boolean isLoading(AcquireResult result) {
		return result instanceof AcquireResult.Indeterminate unknown
				&& String.valueOf(unknown.cause()).contains("LOADING");
	}

	@Slow
	@Test
	void grantThatExpiredOnItsWayIsReleased() {
		RedisServer server = server();
		RedisLockBackend slowBackend = open(this.library.backend(server.address(), new RedisLockOptions(
				TestRedis.NAMESPACE, Duration.ofSeconds(8), 0, Duration.ZERO, "the test's server")));
		LockEngine engine = engine(slowBackend,
				settings().waitTime(Duration.ZERO)
					.leaseTime(Duration.ofMillis(500))
					.responseTimeout(Duration.ofSeconds(8))
					.build());
		server.ask("config", "resetstat");
		server.ask("client", "pause", "1500", "ALL");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> engine.acquire(LockRequest.forLock(LOCK).build()))
			.withMessageContaining("arrived after its lease of");
		// an expired key would be gone without this command
		Awaitility.await("a release").atMost(BOUND).until(() -> server.ask("info", "commandstats").contains("_del:"));
		assertThat(server.ask("exists", KEY)).isEqualTo("0");
	}

	@Slow
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callerOfADeadRedisFailsInTime(boolean paused) {
		RedisServer server = server();
		LockEngine engine = engine(backend(server));
		if (paused) {
			server.pause();
		}
		else {
			server.kill();
		}
		long start = System.nanoTime();
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> engine.acquire(request(Duration.ofSeconds(2))))
			.withMessageContainingAll("did not confirm whether it granted the lock", "The last attempt failed: ",
					paused ? "no response in time. Check that " : "Redis at the test's server could not be reached: ",
					paused ? "'distributed-lock.response-timeout'"
							: ". Check that it is running and whether it uses TLS.");
		Duration oneAnswer = EngineSettings.DEFAULTS.responseTimeout();
		Duration busy = Duration.ofSeconds(5);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(1_900),
				Duration.ofSeconds(2).plus(oneAnswer.multipliedBy(2)).plus(busy));
	}

}
