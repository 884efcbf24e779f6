package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for problems that others have reported with Redlock.
 */
class RedlockFaultTests extends FiveNodes {

	/**
	 * A clock that jumps ahead by more than the rest of a lease expires the lease on that
	 * node.
	 */
	@Test
	void clockJumpOfOneNodeAdmitsASecondHolder() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		Grant held = granted(cutOff);
		refused(this.first, claim());
		nodes.get(2).ask("pexpire", key("part"), "-1");
		Grant second = soonGranted(this.first, claim());
		assertThat(second.storeToken()).isGreaterThan(held.storeToken());
		assertThat(get(cutOff.renew(List.of(held)))).first().isNotInstanceOf(RenewResult.Renewed.class);
		RedlockLockBackend backAgain = this.first;
		assertThat(renewed(backAgain, held)).isInstanceOf(RenewResult.Refused.class);
		assertThat(get(backAgain.release(held))).isInstanceOf(ReleaseResult.NotHeld.class);
		assertThat(renewed(this.first, second)).isInstanceOf(RenewResult.Renewed.class);
	}

	/** The responses arrive long after the lease that they grant has expired. */
	@Slow
	@Test
	void nodeSlowerThanALeaseNeverAdmitsTwoHolders() throws Exception {
		List<RedlockLockBackend> clients = threeNodes(3);
		Duration lease = Duration.ofMillis(300);
		for (int round = 0; round < 3; round++) {
			LockName fresh = LockName.of("slow", Integer.toString(round));
			nodes.get(round % 3).ask("client", "pause", "900", "ALL");
			List<Claim> claims = Stream.generate(() -> claim(fresh, lease)).limit(clients.size()).toList();
			List<CompletionStage<AcquireResult>> answers = new ArrayList<>();
			for (int i = 0; i < clients.size(); i++) {
				answers.add(clients.get(i).tryAcquire(claims.get(i)));
			}
			List<Grant> holders = new ArrayList<>();
			for (CompletionStage<AcquireResult> answer : answers) {
				if (get(answer) instanceof Acquired acquired) {
					holders.add(acquired.grant());
				}
			}
			assertThat(holders).hasSizeLessThanOrEqualTo(1);
			Awaitility.await().until(() -> clients.stream().allMatch((client) -> client.underWay() == 0));
			Grant next = soonGranted(clients.get(0), claim(fresh, lease));
			assertThat(holders).allMatch((holder) -> holder.storeToken() < next.storeToken());
			get(clients.get(0).release(next));
		}
	}

	@Test
	void tokenRisesAfterAttemptsThatOnlySomeNodesSaw() throws Exception {
		Grant before = granted(this.first);
		get(this.first.release(before));
		awaitNothingLeft(0, 1, 2, 3, 4);
		RedlockLockBackend toOne = open(List.of(port(0), freePort(), freePort()), OPTIONS);
		for (int i = 0; i < 2; i++) {
			assertThat(get(toOne.tryAcquire(claim()))).isInstanceOf(Indeterminate.class);
			awaitNothingLeft(0);
		}
		RedlockLockBackend toOthers = open(List.of(freePort(), port(1), port(2)), OPTIONS);
		Grant after = granted(toOthers);
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		get(toOthers.release(after));
		RedlockLockBackend toBoth = open(List.of(port(0), port(1), freePort()), OPTIONS);
		assertThat(granted(toBoth).storeToken()).isGreaterThan(after.storeToken());
	}

	/**
	 * An attempt of the first owner reaches a majority late, after the second owner has
	 * released the lock. Its reply and the request that undoes it are lost.
	 */
	@Test
	void ownerOfAnExpiredLeaseGetsANewToken() throws Exception {
		Claim claim = claim(this.lock, Duration.ofMillis(600));
		Grant first = granted(this.first, claim);
		RedlockLockBackend other = open(ports(0, 1, 2, 3, 4), OPTIONS);
		Grant second = soonGranted(other, claim());
		assertThat(second.storeToken()).isGreaterThan(first.storeToken());
		get(other.release(second));
		awaitNothingLeft(0, 1, 2, 3, 4);
		IntStream.of(0, 1, 2)
			.forEach((i) -> nodes.get(i)
				.ask("set", key("part"), "%s:2:%d".formatted(claim.owner(), second.storeToken() + 1), "px", "60000"));
		assertThat(granted(this.first, claim).storeToken()).isGreaterThan(second.storeToken());
	}

	@Slow
	@Test
	void callersInLockStepDoNotSplitTheVotesForever() throws Exception {
		List<LockEngine> engines = threeNodes(3).stream().map(FiveNodes::engine).toList();
		List<Long> times = new ArrayList<>();
		for (int round = 0; round < 30; round++) {
			times.add(timeUntilOneHolds(engines));
		}
		engines.forEach(LockEngine::close);
		assertThat(times).allMatch((nanos) -> nanos < Duration.ofSeconds(2).toNanos());
	}

	private long timeUntilOneHolds(List<LockEngine> engines) throws Exception {
		CountDownLatch start = new CountDownLatch(1);
		CountDownLatch oneHolds = new CountDownLatch(1);
		List<Thread> threads = engines.stream().map((engine) -> new Thread(() -> {
			awaitQuietly(start);
			try (LockHandle handle = engine.acquire(request(Duration.ofSeconds(20)))) {
				oneHolds.countDown();
			}
		})).toList();
		threads.forEach(Thread::start);
		long begin = System.nanoTime();
		start.countDown();
		assertThat(oneHolds.await(20, TimeUnit.SECONDS)).isTrue();
		long time = System.nanoTime() - begin;
		for (Thread thread : threads) {
			thread.join(20_000);
			assertThat(thread.isAlive()).isFalse();
		}
		return time;
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void refusedClaimLeavesNothingOnALateNode() throws Exception {
		RedlockLockBackend other = open(ports(0, 1, 2, 3, 4), OPTIONS);
		other.verify();
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.pollDelay(Duration.ZERO)
			.until(() -> lateNodeKeepsOnlyTheHolder(other));
	}

	/** Also returns {@code false} if a busy machine takes longer than the lease. */
	private boolean lateNodeKeepsOnlyTheHolder(RedlockLockBackend other) throws Exception {
		long start = System.nanoTime();
		nodes.get(0).ask("client", "pause", "300", "ALL");
		Grant holder = granted(this.first);
		Claim claim = claim();
		boolean refused = get(other.tryAcquire(claim)) instanceof Contended;
		Awaitility.await().until(() -> this.first.underWay() + other.underWay() == 0);
		boolean kept = false;
		while (refused && !kept && System.nanoTime() - start < LONGEST_LEASE.toNanos()) {
			kept = nodes.all()
				.stream()
				.allMatch((node) -> node.ask("get", key("part")).startsWith(holder.claim().owner().value()));
		}
		get(other.abandon(claim));
		get(this.first.release(holder));
		return kept;
	}

	/**
	 * The responses of the nodes wait on the host of the client until the client resumes.
	 */
	@Test
	void clientPausedBeforeItReadsTheAnswersDoesNotHold() throws Exception {
		List<TcpProxy> wires = nodes.all().stream().map((node) -> TcpProxy.to(node.port())).toList();
		try {
			RedlockLockBackend still = open(wires.stream().map(TcpProxy::port).toList(),
					new RedlockLockOptions(TestNodes.NAMESPACE, Duration.ofSeconds(5), Duration.ofSeconds(4), 0.01,
							Duration.ofMinutes(1), true));
			still.verify();
			granted(still, claim(LockName.of("warm", "up"), LONGEST_LEASE));
			wires.forEach(TcpProxy::holdReplies);
			CompletionStage<AcquireResult> answer = still.tryAcquire(claim(this.lock, Duration.ofMillis(600)));
			Awaitility.await()
				.pollInterval(Duration.ofMillis(5))
				.until(() -> nodes.all().stream().anyMatch((node) -> node.ask("exists", key("part")).equals("1")));
			awaitNothingLeft(0, 1, 2, 3, 4);
			wires.forEach(TcpProxy::flow);
			assertThat(get(answer)).isInstanceOfSatisfying(Indeterminate.class,
					(result) -> assertThat(result.cause()).hasMessageContaining("does not count as held"));
			awaitNothingLeft(0, 1, 2, 3, 4);
			get(this.first.release(soonGranted(this.first, claim())));
		}
		finally {
			wires.forEach(TcpProxy::close);
		}
	}

	@Slow
	@Test
	void leaseIsNoLongerThanRequestedAfterAWait() throws Exception {
		granted(this.first);
		RedlockLockBackend other = open(ports(0, 1, 2, 3, 4), OPTIONS);
		Duration lease = Duration.ofSeconds(1);
		LockRequest waiting = request(Duration.ofSeconds(20)).toBuilder().leaseTime(lease).renew(false).build();
		try (LockEngine engine = engine(other); LockHandle handle = engine.acquire(waiting)) {
			assertThat(handle.remainingValidity()).isLessThan(lease);
			Awaitility.await().until(() -> other.underWay() == 0);
			assertThat(nodes.all()).extracting((node) -> Long.parseLong(node.ask("pttl", key("part"))))
				.allMatch((left) -> left <= lease.toMillis() && left != -1);
		}
	}

	@Test
	void nodesAreCalledInParallelUntilAQuorumAnswers() throws Exception {
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		nodes.get(3).pause();
		nodes.get(4).pause();
		// a busy machine may delay some attempts, but not all
		Awaitility.await().atMost(Duration.ofSeconds(10)).pollDelay(Duration.ZERO).until(() -> {
			nodes.get(0).ask("client", "pause", "200", "ALL");
			long start = System.nanoTime();
			get(this.first.release(granted(this.first)));
			return System.nanoTime() - start < NODE_TIMEOUT.multipliedBy(2).toNanos();
		});
	}

	/**
	 * Each claim used to wait on the node behind all earlier ones, which made it later
	 * and later. Lettuce sends all requests through one connection.
	 */
	@Test
	void claimsDoNotQueueBehindReleasesOnALateNode() throws Exception {
		RedlockLockOptions patient = new RedlockLockOptions(TestNodes.NAMESPACE, Duration.ofSeconds(30), NODE_TIMEOUT,
				0.01, LONGEST_LEASE, true);
		try (TcpProxy wire = TcpProxy.to(port(4));
				RedlockLockBackend backend = TestNodes.started(RedisLibrary.LETTUCE,
						Stream.concat(ports(0, 1, 2, 3).stream(), Stream.of(wire.port())).toList(), patient)) {
			get(backend.release(granted(backend)));
			awaitNothingLeft(0, 1, 2, 3, 4);
			wire.holdReplies();
			for (int i = 0; i < 20; i++) {
				Grant grant = granted(backend, waiter("a", LockMode.EXCLUSIVE));
				get(backend.release(grant));
			}
			Claim last = claim(LockName.of("last", "request"), LONGEST_LEASE);
			granted(backend, last);
			Awaitility.await().until(() -> nodes.get(4).ask("exists", "test:{last:request}:part").equals("1"));
			assertThat(nodes.get(4).ask("zcard", key("part-waiters"))).isEqualTo("0");
			wire.flow();
			awaitNothingLeft(0, 1, 2, 3, 4);
			Grant next = granted(backend);
			Awaitility.await().until(() -> backend.underWay() == 0);
			assertThat(nodes.all())
				.allMatch((node) -> node.ask("get", key("part")).startsWith(next.claim().owner().value()));
		}
	}

	/**
	 * A frozen node may process an attempt after its release, which came through another
	 * connection or not at all. The test writes what the node has then.
	 */
	@Slow
	@Test
	void claimThatALateNodeGrantsAfterItsReleaseIsReleasedAgain() throws Exception {
		nodes.get(4).pause();
		Grant ended = granted(this.first);
		get(this.first.release(ended));
		Awaitility.await().until(() -> this.first.unconfirmed(4) == 1);
		nodes.get(4).resume();
		awaitNothingLeft(4);
		nodes.get(4).ask("set", key("part"), ended.claim().owner().value() + ":9:1", "px", "60000");
		Grant next = granted(this.first);
		Awaitility.await().until(() -> this.first.unconfirmed(4) == 0);
		get(this.first.release(next));
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	private List<RedlockLockBackend> threeNodes(int clients) {
		List<RedlockLockBackend> backends = Stream.generate(() -> open(ports(0, 1, 2), OPTIONS))
			.limit(clients)
			.toList();
		backends.forEach((backend) -> backend.verify());
		return backends;
	}

}
