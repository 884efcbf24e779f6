package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.server.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Base class for tests on five real masters, which hold no data when a test starts.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.lock.backend.redis.RedisLibrary#inDepth")
abstract class FiveNodes {

	static final Duration NODE_TIMEOUT = Duration.ofMillis(450);

	static final Duration LONGEST_LEASE = Duration.ofSeconds(4);

	static TestNodes nodes;

	static final RedlockLockOptions OPTIONS = TestNodes.options(NODE_TIMEOUT, LONGEST_LEASE);

	final LockName lock = LockName.of("stock", UUID.randomUUID().toString());

	private final List<RedlockLockBackend> opened = new ArrayList<>();

	@Parameter
	RedisLibrary library;

	RedlockLockBackend first;

	@BeforeAll
	static void startNodes() {
		nodes = TestNodes.admitted(5);
	}

	@AfterAll
	static void closeNodes() {
		nodes.close();
	}

	@BeforeEach
	void allVote() {
		nodes.each(TestNodes::admit);
		this.first = open(ports(0, 1, 2, 3, 4), OPTIONS);
		TestNodes.connect(this.first);
	}

	@AfterEach
	void healAll() {
		this.opened.forEach(RedlockLockBackend::close);
		nodes.each((node) -> {
			node.resume();
			node.start();
			node.ask("flushall");
		});
	}

	void awaitNothingLeft(int... which) {
		Awaitility.await()
			.untilAsserted(() -> assertThat(IntStream.of(which)
				.mapToObj((i) -> nodes.get(i))
				.flatMap((node) -> node.keys("*" + this.lock + "}:part*").stream())
				.filter((key) -> !key.endsWith("-token"))).isEmpty());
	}

	static LockEngine engine(RedlockLockBackend backend) {
		return engine(backend, EngineSettings.DEFAULTS);
	}

	static LockEngine engine(RedlockLockBackend backend, EngineSettings settings) {
		return new LockEngine(new LockBackends(List.of(backend), "redlock"), settings, TransactionBoundary.NONE,
				List.of());
	}

	LockRequest request(Duration waitTime) {
		return LockRequest.forLock(this.lock).waitTime(waitTime).leaseTime(LONGEST_LEASE).build();
	}

	RedlockLockBackend open(List<Integer> ports, RedlockLockOptions options) {
		RedlockLockBackend backend = TestNodes.backend(this.library, ports, options);
		this.opened.add(backend);
		return backend;
	}

	static List<Integer> ports(int... which) {
		return IntStream.of(which).mapToObj(FiveNodes::port).toList();
	}

	static int port(int index) {
		return nodes.get(index).port();
	}

	static int freePort() {
		return ServerProcess.freePort();
	}

	static void kill(int... which) {
		IntStream.of(which).forEach((i) -> nodes.get(i).kill());
	}

	static void start(int... which) {
		IntStream.of(which).forEach((i) -> {
			nodes.get(i).start();
			TestNodes.admit(nodes.get(i));
		});
	}

	String key(String part) {
		return "test:{" + this.lock + "}:" + part;
	}

	/** Runs {@link RedlockScripts#RELEASE} with the arguments that undo an attempt. */
	String undo(Claim claim, String attempt) {
		return nodes.get(0)
			.ask("eval", RedlockScripts.RELEASE.text(), "5", key("part"), key("part-token"), "test:redlock",
					key("part-readers"), key("part-waiters"), "r", "1", claim.owner().value(), attempt,
					claim.mode().name(), "0", "0", "", "", "0", "60000");
	}

	Claim claim() {
		return claim(this.lock, LONGEST_LEASE);
	}

	Claim shared() {
		return new Claim(this.lock, OwnerId.random(), LockMode.SHARED, LONGEST_LEASE, false, Duration.ZERO, false);
	}

	static Claim claim(LockName lock, Duration lease) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, lease, false, Duration.ZERO, false);
	}

	/**
	 * Returns a claim before all that wait since the same moment and have a greater id.
	 */
	Claim waiter(String id, LockMode mode) {
		OwnerId owner = new OwnerId(id + OwnerId.random().value().substring(1));
		return new Claim(this.lock, owner, mode, LONGEST_LEASE, false, Duration.ofMinutes(1), false);
	}

	/** Retries until the lock is granted. */
	static Grant soonGranted(RedlockLockBackend backend, Claim claim) {
		return Awaitility.await().atMost(Duration.ofSeconds(8)).until(() -> {
			AcquireResult result = get(backend.tryAcquire(claim));
			return (result instanceof Acquired acquired) ? acquired.grant() : null;
		}, (candidate) -> candidate != null);
	}

	/**
	 * Waits until a hold that is no longer renewed is lost, and asserts that its validity
	 * never exceeds the lease.
	 */
	static void awaitLossWithin(Duration lease, LockHandle handle) {
		long start = System.nanoTime();
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(2))
			.until(() -> {
				Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
				Duration remaining = handle.remainingValidity();
				if (remaining.isZero()) {
					return true;
				}
				assertThat(elapsed.plus(remaining)).isLessThan(lease);
				return false;
			});
	}

	/** Asserts that the lock is refused at the first attempt with a known outcome. */
	static Contended refused(RedlockLockBackend backend, Claim claim) throws Exception {
		AcquireResult result = knownOutcome(backend, claim);
		assertThat(result).isInstanceOf(Contended.class);
		return (Contended) result;
	}

	Grant granted(RedlockLockBackend backend) throws Exception {
		return granted(backend, claim());
	}

	/** Asserts that the lock is granted at the first attempt with a known outcome. */
	static Grant granted(RedlockLockBackend backend, Claim claim) throws Exception {
		AcquireResult result = knownOutcome(backend, claim);
		assertThat(result).isInstanceOf(Acquired.class);
		return ((Acquired) result).grant();
	}

	private static AcquireResult knownOutcome(RedlockLockBackend backend, Claim claim) throws Exception {
		return known(Indeterminate.class, () -> get(backend.tryAcquire(claim)));
	}

	static RenewResult renewed(RedlockLockBackend backend, Grant grant) throws Exception {
		return known(RenewResult.Indeterminate.class, () -> get(backend.renew(List.of(grant))).get(0));
	}

	/**
	 * Asserts that the lock was held. A release of unknown outcome may have ended it, so
	 * that its repetition finds nothing.
	 */
	static void released(RedlockLockBackend backend, Grant grant) throws Exception {
		ReleaseResult result = get(backend.release(grant));
		if (result instanceof ReleaseResult.Indeterminate) {
			result = known(ReleaseResult.Indeterminate.class, () -> get(backend.release(grant)));
			assertThat(result).isInstanceOfAny(Released.class, ReleaseResult.NotHeld.class);
		}
		else {
			assertThat(result).isInstanceOf(Released.class);
		}
	}

	/** Nodes may respond late on a busy machine. */
	private static <T> T known(Class<? extends T> unknown, Callable<T> request) throws Exception {
		T result = request.call();
		for (int i = 0; unknown.isInstance(result) && i < 10; i++) {
			result = request.call();
		}
		return result;
	}

	static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(5, TimeUnit.SECONDS);
	}

}
