package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisCluster;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a Redis Cluster of three masters: locks spread over the masters, and all keys
 * of a lock are in one slot.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(RedisLibrary.class)
@Slow
class RedisClusterTests {

	@AutoClose
	private static final RedisCluster cluster = RedisCluster.started();

	@Parameter
	private RedisLibrary library;

	private static RedisLockBackend first;

	private static RedisLockBackend second;

	@BeforeParameterizedClassInvocation
	static void connect(RedisLibrary library) {
		first = backend(library, cluster, TestRedis.patientOptions(0));
		second = backend(library, cluster, TestRedis.patientOptions(0));
	}

	@AfterParameterizedClassInvocation
	static void disconnect() {
		first.close();
		second.close();
	}

	private static RedisLockBackend backend(RedisLibrary library, RedisCluster cluster, RedisLockOptions options) {
		return TestRedis.started(library.ofCluster(cluster.nodes().get(0), options), options);
	}

	@Test
	void locksOnAllNodesAreTakenRenewedAndReleased() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			grants.add(granted(first, claim("spread", "n" + i)));
			assertThat(get(second.tryAcquire(claim("spread", "n" + i)))).isInstanceOf(Contended.class);
		}
		for (RedisServer node : cluster.nodes()) {
			assertThat(node.keys("test:{spread:*}:lock")).hasSizeBetween(5, 40);
		}
		assertThat(get(first.renew(grants))).hasSize(60).allMatch((result) -> result instanceof RenewResult.Renewed);
		for (Grant grant : grants) {
			assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		}
		assertThat(cluster.keys("test:{spread:*}:lock")).isEmpty();
		assertThat(cluster.keys("test:{spread:*}:waiters")).isEmpty();
	}

	@Test
	void waitersAreNotifiedByEveryNode() throws Exception {
		for (int i = 0; i < 12; i++) {
			int attempts = 1;
			while (!isNotified("n" + i)) {
				assertThat(++attempts).as("releases of lock %d without a notification", i).isLessThanOrEqualTo(3);
			}
		}
	}

	/** A notification may be lost while the client renews its subscription. */
	private static boolean isNotified(String key) throws Exception {
		Grant grant = granted(first, claim("wake", key));
		Claim waiting = claim("wake", key).withRemainingWait(Duration.ofSeconds(30));
		Contended contended = (Contended) get(second.tryAcquire(waiting));
		assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		boolean notified;
		try {
			get(contended.signal());
			notified = true;
		}
		catch (TimeoutException ex) {
			notified = false;
		}
		assertThat(get(second.release(granted(second, waiting)))).isInstanceOf(ReleaseResult.Released.class);
		return notified;
	}

	@Test
	void keysWithBracesMapToOneSlot() throws Exception {
		for (String key : List.of("}", "{", "a}b", "{a}", "}{")) {
			Grant grant = granted(first, claim("braces", key));
			Claim waiting = claim("braces", key).withRemainingWait(Duration.ofSeconds(5));
			assertThat(get(second.tryAcquire(waiting))).isInstanceOf(Contended.class);
			get(second.abandon(waiting));
			assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		}
	}

	@Test
	void replicasAreAwaitedAtTheNodeOfTheLock() throws Exception {
		RedisLockOptions options = TestRedis.options(1);
		ScriptClient client = this.library.ofCluster(cluster.nodes().get(0), options);
		try (RedisLockBackend careful = TestRedis.started(client, options)) {
			for (int i = 0; i < 6; i++) {
				Claim claim = claim("careful", "n" + i);
				assertThat(get(careful.tryAcquire(claim))).isInstanceOfSatisfying(AcquireResult.Indeterminate.class,
						(result) -> assertThat(result.cause()).hasMessageContaining("reached 0 of 1 replicas"));
				get(careful.abandon(claim));
			}
		}
		assertThat(cluster.keys("test:{careful:*}:lock")).isEmpty();
	}

	/** The client reads the topology every 5 s anyway. */
	@Test
	void replicasOfAMovedLockAreSoonAwaitedAtItsNode() throws Exception {
		RedisLockOptions options = TestRedis.options(1);
		String key = this.library + "-4";
		ScriptClient client = this.library.ofCluster(cluster.nodes().get(0), options);
		try (RedisLockBackend careful = TestRedis.started(client, options)) {
			Claim claim = claim("moving", key);
			assertThat(causeOfUnknownOutcome(careful, claim)).contains("reached 0 of 1 replicas");
			cluster.moveSlotOf("test:{moving:" + key + "}:lock");
			Awaitility.await()
				.atMost(Duration.ofSeconds(2))
				.until(() -> causeOfUnknownOutcome(careful, claim).contains("reached 0 of 1 replicas"));
			get(careful.abandon(claim));
		}
	}

	private static String causeOfUnknownOutcome(RedisLockBackend backend, Claim claim) throws Exception {
		return ((AcquireResult.Indeterminate) get(backend.tryAcquire(claim))).cause().toString();
	}

	@Test
	void lockMovedToAnotherNodeStaysHeld() throws Exception {
		String key = this.library + "-1";
		Grant grant = granted(first, claim("moving", key));
		cluster.moveSlotOf("test:{moving:" + key + "}:lock");
		assertThat(get(second.tryAcquire(claim("moving", key)))).isInstanceOf(Contended.class);
		assertThat(get(first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
		assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		Grant next = granted(second, claim("moving", key));
		assertThat(next.storeToken()).isGreaterThan(grant.storeToken());
		assertThat(get(second.release(next))).isInstanceOf(ReleaseResult.Released.class);
	}

	/** An operator may take hours to end a move that was interrupted. */
	@Test
	void lockThatIsBeingMovedIsRenewed() throws Exception {
		String key = this.library + "-2";
		Grant writer = granted(first, claim("moving", key));
		Grant reader = granted(first, claim("moving", key + "-read", LockMode.SHARED));
		List<Grant> grants = List.of(writer, reader);
		List<RedisCluster.Move> moves = Stream.of(key, key + "-read")
			.map((moving) -> cluster.beginToMoveSlotOf("test:{moving:" + moving + "}:lock"))
			.toList();
		assertThat(get(first.renew(grants))).hasOnlyElementsOfType(RenewResult.Renewed.class);
		assertThat(get(second.tryAcquire(claim("moving", key)))).isInstanceOf(AcquireResult.Indeterminate.class);
		moves.forEach(RedisCluster.Move::moveKeys);
		assertThat(get(first.renew(grants))).hasOnlyElementsOfType(RenewResult.Renewed.class);
		moves.forEach(RedisCluster.Move::end);
		assertThat(get(first.renew(grants))).hasOnlyElementsOfType(RenewResult.Renewed.class);
		assertThat(get(second.tryAcquire(claim("moving", key)))).isInstanceOf(Contended.class);
		for (Grant grant : grants) {
			assertThat(get(first.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		}
	}

	@Test
	void unusedLockIsGrantedWhenItsSlotHasMoved() throws Exception {
		String key = this.library + "-3";
		RedisCluster.Move move = cluster.beginToMoveSlotOf("test:{moving:" + key + "}:lock");
		Claim claim = claim("moving", key);
		assertThat(get(second.tryAcquire(claim))).isInstanceOf(AcquireResult.Indeterminate.class);
		move.end();
		Grant grant = granted(second, claim);
		assertThat(get(first.tryAcquire(claim("moving", key)))).isInstanceOf(Contended.class);
		assertThat(get(second.release(grant))).isInstanceOf(ReleaseResult.Released.class);
	}

	@Test
	void deadNodeDoesNotAffectLocksOnOthers() throws Exception {
		try (RedisCluster broken = RedisCluster.started();
				RedisLockBackend backend = backend(this.library, broken, TestRedis.options(0))) {
			List<Grant> grants = grants(backend);
			int lost = broken.nodes().get(1).keys("test:{survivor:*}:lock").size();
			broken.nodes().get(1).kill();
			awaitRenewalInTimeButFor(lost, backend, grants);
			Awaitility.await()
				.atMost(Duration.ofSeconds(20))
				.until(() -> broken.nodes().get(0).ask("cluster", "nodes").contains("fail "));
			for (int round = 0; round < 2; round++) {
				awaitRenewalInTimeButFor(lost, backend, grants);
			}
		}
	}

	@Test
	void silentNodeDoesNotAffectLocksOnOthers() throws Exception {
		try (RedisCluster broken = RedisCluster.started();
				RedisLockBackend backend = backend(this.library, broken, TestRedis.options(0))) {
			List<Grant> grants = grants(backend);
			int lost = broken.nodes().get(1).keys("test:{survivor:*}:lock").size();
			awaitRenewalInTimeButFor(0, backend, grants);
			broken.nodes().get(1).pause();
			for (int round = 0; round < 2; round++) {
				awaitRenewalInTimeButFor(lost, backend, grants);
			}
			broken.nodes().get(1).resume();
		}
	}

	private static List<Grant> grants(RedisLockBackend backend) throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			grants.add(granted(backend, claim("survivor", "n" + i)));
		}
		return grants;
	}

	/** A busy machine may delay some renewals, but not all. */
	private static void awaitRenewalInTimeButFor(int lost, RedisLockBackend backend, List<Grant> grants) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> {
				long start = System.nanoTime();
				List<RenewResult> results = get(backend.renew(grants));
				Duration took = Duration.ofNanos(System.nanoTime() - start);
				assertThat(results).filteredOn((result) -> result instanceof RenewResult.Indeterminate)
					.hasSizeGreaterThanOrEqualTo(lost);
				return results.stream().filter((result) -> result instanceof RenewResult.Renewed).count() == 60 - lost
						&& took.compareTo(TestRedis.options(0).responseTimeout()) < 0;
			});
	}

	private static Claim claim(String name, String key) {
		return claim(name, key, LockMode.EXCLUSIVE);
	}

	private static Claim claim(String name, String key, LockMode mode) {
		return new Claim(LockName.of(name, key), OwnerId.random(), mode, Duration.ofSeconds(30), false, Duration.ZERO,
				false);
	}

}
