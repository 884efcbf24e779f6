package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedlockLockBackend} on five real masters, some of which fail.
 */
class RedlockLockBackendTests extends FiveNodes {

	@Test
	void twoDeadNodesDoNotMatter() throws Exception {
		Grant before = granted(this.first);
		kill(3, 4);
		assertThat(renewed(this.first, before)).isInstanceOf(RenewResult.Renewed.class);
		released(this.first, before);
		Grant after = granted(this.first);
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		released(this.first, after);
	}

	@Test
	void twoFrozenNodesAreNotWaitedFor() throws Exception {
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		nodes.get(0).pause();
		nodes.get(4).pause();
		awaitPairWithin(NODE_TIMEOUT);
	}

	@Slow
	@Test
	void twoSlowNodesAreNotWaitedFor() throws Exception {
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		nodes.get(1).ask("client", "pause", "3000", "ALL");
		nodes.get(2).ask("client", "pause", "3000", "ALL");
		awaitPairWithin(NODE_TIMEOUT);
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	/** A busy machine may delay some pairs, but not all. */
	private void awaitPairWithin(Duration time) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(3))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> {
				long start = System.nanoTime();
				Grant grant = granted(this.first);
				released(this.first, grant);
				return System.nanoTime() - start < time.toNanos();
			});
	}

	@Slow
	@Test
	void withThreeDeadNodesTheEngineRefusesInTime() {
		kill(0, 2, 4);
		try (LockEngine engine = engine(this.first)) {
			long start = System.nanoTime();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> engine.acquire(request(Duration.ofSeconds(1))))
				.withStackTraceContaining("3 of 5 Redis nodes must agree")
				.withStackTraceContaining("Connection refused");
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(900),
					Duration.ofSeconds(5));
		}
		awaitNothingLeft(1, 3);
	}

	@Test
	void partialGrantsAreFreedAtOnce() throws Exception {
		Duration lease = Duration.ofMinutes(2);
		RedlockLockBackend longer = open(ports(0, 1, 2, 3, 4), TestNodes.options(NODE_TIMEOUT, lease));
		kill(0, 2, 4);
		assertThat(get(longer.tryAcquire(claim(this.lock, lease)))).isInstanceOf(Indeterminate.class);
		awaitNothingLeft(1, 3);
		start(0, 2, 4);
		get(longer.release(soonGranted(longer, claim(this.lock, lease))));
	}

	@Slow
	@Test
	void restartedNodeDoesNotHelpASecondOwner() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		Claim ofA = claim();
		Grant grant = granted(cutOff, ofA);
		Claim ofB = claim();
		long restarting = System.nanoTime();
		nodes.get(2).restart();
		assertThat(get(this.first.tryAcquire(ofB))).isInstanceOf(Contended.class);
		Grant next = Awaitility.await().atMost(Duration.ofSeconds(8)).until(() -> {
			AcquireResult result = get(this.first.tryAcquire(ofB));
			return (result instanceof Acquired acquired) ? acquired.grant() : null;
		}, (candidate) -> candidate != null);
		assertThat(Duration.ofNanos(System.nanoTime() - restarting)).as("time until the second owner")
			.isGreaterThan(LONGEST_LEASE.minusMillis(400));
		assertThat(next.storeToken()).isGreaterThan(grant.storeToken());
		// the node does not vote while this client, which may notice the restart late,
		// counts its quarantine. On a busy machine, nodes also respond too late to count
		List<RenewResult> renewals = new ArrayList<>();
		Awaitility.await().atMost(LONGEST_LEASE.multipliedBy(8)).until(() -> {
			renewals.addAll(get(cutOff.renew(List.of(grant))));
			return renewals.get(renewals.size() - 1) instanceof RenewResult.Refused;
		});
		assertThat(renewals).noneMatch(RenewResult.Renewed.class::isInstance);
	}

	@Test
	void restartedNodeWouldHelpASecondOwnerWithoutTheQuarantine() throws Exception {
		RedlockLockOptions careless = new RedlockLockOptions(TestNodes.NAMESPACE, Duration.ofSeconds(1), NODE_TIMEOUT,
				0.01, LONGEST_LEASE, false);
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), careless);
		RedlockLockBackend other = open(ports(0, 1, 2, 3, 4), careless);
		granted(cutOff, claim());
		nodes.get(2).restart();
		Awaitility.await().untilAsserted(() -> granted(other, claim()));
	}

	@Test
	void flushedNodeDoesNotVote() throws Exception {
		kill(3, 4);
		granted(this.first);
		nodes.get(0).ask("flushall");
		assertThat(get(this.first.tryAcquire(claim(LockName.of("other"), LONGEST_LEASE)))).isInstanceOfSatisfying(
				Indeterminate.class, (result) -> assertThat(result.cause()).hasMessageContaining("may not vote"));
		assertThat(nodes.get(0).ask("hget", "test:redlock", "admitted")).isEmpty();
	}

	@Test
	void nodeRestoredFromAnOldDiskDoesNotVote() throws Exception {
		kill(3, 4);
		String earlier = "0123456789012345678901234567890123456789/x";
		nodes.get(0).ask("hset", "test:redlock", "memory", earlier, "admitted", earlier);
		assertThat(get(this.first.tryAcquire(claim()))).isInstanceOf(Indeterminate.class);
		assertThat(nodes.get(0).ask("hget", "test:redlock", "memory")).isNotEqualTo(earlier);
	}

	@Slow
	@Test
	void newNodesVoteWhenTheLongestLeaseHasPassed() throws Exception {
		nodes.each((node) -> node.ask("flushall"));
		long start = System.nanoTime();
		Claim claim = claim();
		Awaitility.await()
			.atMost(Duration.ofSeconds(8))
			.until(() -> get(this.first.tryAcquire(claim)) instanceof Acquired);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(LONGEST_LEASE);
	}

	@Slow
	@Test
	void longerLeaseKnownToOtherNodesExtendsTheQuarantine() throws Exception {
		nodes.get(4).ask("hset", "test:redlock", "longest", "600000");
		kill(3);
		granted(this.first, claim(LockName.of("other"), LONGEST_LEASE));
		nodes.get(0).ask("flushall");
		assertThat(get(this.first.tryAcquire(claim()))).isInstanceOf(Acquired.class);
		Duration usualQuarantine = LONGEST_LEASE.plusMillis(200);
		Awaitility.await().during(usualQuarantine).until(() -> {
			get(this.first.release(granted(this.first, claim(LockName.of("third"), LONGEST_LEASE))));
			return nodes.get(0).ask("hget", "test:redlock", "admitted").isEmpty();
		});
	}

	@Test
	void nodesRememberALeaseThatIsKeptForItsMinHold() throws Exception {
		Grant grant = granted(this.first);
		get(this.first.retain(grant, Duration.ofMinutes(10)));
		Awaitility.await()
			.untilAsserted(() -> assertThat(Long.parseLong(nodes.get(0).ask("hget", "test:redlock", "longest")))
				.isGreaterThan(Duration.ofMinutes(9).toMillis()));
		get(this.first.release(grant));
		for (int i = 0; i < 5; i++) {
			nodes.get(i).ask("hset", "test:redlock", "longest", Long.toString(LONGEST_LEASE.toMillis()));
		}
	}

	@Slow
	@Test
	void tokenRisesThoughOtherClocksAreBehind() throws Exception {
		long ahead = granted(this.first).storeToken() + Duration.ofHours(1).toNanos() / 1000;
		for (int i = 0; i < 3; i++) {
			nodes.get(i).ask("set", key("part-token"), Long.toString(ahead));
			nodes.get(i).ask("hset", "test:redlock", "highest", Long.toString(ahead));
			nodes.get(i).ask("del", key("part"));
		}
		nodes.get(3).ask("del", key("part"));
		nodes.get(4).ask("del", key("part"));
		nodes.get(0).restart();
		Awaitility.await().atMost(Duration.ofSeconds(8)).until(() -> {
			get(this.first.tryAcquire(claim(LockName.of("other"), LONGEST_LEASE)));
			return !nodes.get(0).ask("hget", "test:redlock", "admitted").isEmpty();
		});
		kill(1, 2);
		assertThat(granted(this.first).storeToken()).isGreaterThan(ahead);
	}

	@Test
	void grantThatUsedUpItsLeaseDoesNotCount() throws Exception {
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		// on a busy machine, the nodes may miss the node timeout, too
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.until(() -> tryAcquireWhileNodesArePausedForLongerThanTheLease().getMessage(),
					(message) -> message.contains("does not count as held"));
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	private Throwable tryAcquireWhileNodesArePausedForLongerThanTheLease() throws Exception {
		Duration lease = Duration.ofMillis(50);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).pause());
		CompletionStage<AcquireResult> result = this.first.tryAcquire(claim(this.lock, lease));
		LockSupport.parkNanos(lease.multipliedBy(2).toNanos());
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).resume());
		assertThat(get(result)).isInstanceOf(Indeterminate.class);
		return ((Indeterminate) get(result)).cause();
	}

	@Test
	void lateGrantIsReleased() throws Exception {
		granted(this.first, claim(LockName.of("warm", "up"), LONGEST_LEASE));
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).pause());
		Claim claim = claim();
		assertThat(get(this.first.tryAcquire(claim))).isInstanceOf(Indeterminate.class);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).resume());
		Awaitility.await().until(() -> this.first.underWay() == 0);
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	@Test
	void lateUndoDoesNotTouchTheNextAttemptOfTheSameOwner() throws Exception {
		Claim claim = claim();
		granted(this.first, claim);
		Grant again = granted(this.first, claim);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		String[] value = nodes.get(0).ask("get", key("part")).split(":");
		String attempt = value[1];
		String earlier = Long.toString(Long.parseLong(attempt) - 1);
		assertThat(undo(claim, earlier)).contains("0");
		assertThat(renewed(this.first, again)).isInstanceOf(RenewResult.Renewed.class);
		// this node may renew the lease after the majority
		Awaitility.await().until(() -> !nodes.get(0).ask("get", key("part")).split(":")[1].equals(attempt));
		assertThat(undo(claim, attempt)).as("a renewed lease counts").contains("0");
	}

	@Test
	void undoRemovesTheGrantOfItsAttempt() throws Exception {
		Claim claim = claim();
		granted(this.first, claim);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		assertThat(undo(claim, nodes.get(0).ask("get", key("part")).split(":")[1])).contains("1");
	}

	@Test
	void oneOfManyContendersAcquiresAndNeverTwo() throws Exception {
		List<RedlockLockBackend> clients = List.of(this.first, open(ports(0, 1, 2, 3, 4), OPTIONS),
				open(ports(0, 1, 2, 3, 4), OPTIONS));
		for (RedlockLockBackend client : clients) {
			client.verify();
		}
		for (int round = 0; round < 20; round++) {
			List<CompletionStage<AcquireResult>> answers = clients.stream()
				.map((client) -> client.tryAcquire(claim()))
				.toList();
			List<Acquired> holders = new ArrayList<>();
			for (CompletionStage<AcquireResult> answer : answers) {
				if (get(answer) instanceof Acquired acquired) {
					holders.add(acquired);
				}
			}
			assertThat(holders).hasSizeLessThanOrEqualTo(1);
			for (Acquired holder : holders) {
				get(this.first.release(holder.grant()));
			}
		}
		Awaitility.await()
			.atMost(Duration.ofSeconds(2))
			.until(() -> get(this.first.tryAcquire(claim())) instanceof Acquired);
	}

	@Test
	void lateNodeReceivesOneRequestToAcquireAndOneToRelease() throws Exception {
		try (TcpProxy wire = TcpProxy.to(port(0))) {
			RedlockLockBackend backend = open(List.of(wire.port(), port(1), port(2), port(3), port(4)), OPTIONS);
			backend.verify();
			granted(backend, claim(LockName.of("warm", "up"), LONGEST_LEASE));
			Awaitility.await().ignoreExceptions().untilAsserted(() -> {
				List<String> commands = nodes.get(0).watched(() -> {
					wire.holdReplies();
					Grant grant = granted(backend);
					get(backend.release(grant));
					wire.flow();
					awaitNothingLeft(0, 1, 2, 3, 4);
					return grant;
				});
				assertThat(commands).filteredOn((line) -> !line.contains(" lua] ") && line.contains("\"EVALSHA\""))
					.hasSize(2);
			});
		}
	}

	@Test
	void leaseIsNoLongerThanRequestedOnAnyNode() throws Exception {
		granted(this.first, claim(this.lock, Duration.ofSeconds(1)));
		Awaitility.await().until(() -> this.first.underWay() == 0);
		for (RedisServer node : nodes.all()) {
			assertThat(Long.parseLong(node.ask("pttl", key("part")))).isBetween(-2L, 1000L);
		}
	}

	@Test
	void greaterDriftFactorShortensTheLease() throws Exception {
		RedlockLockBackend careful = open(ports(0, 1, 2, 3, 4), new RedlockLockOptions(TestNodes.NAMESPACE,
				Duration.ofSeconds(1), NODE_TIMEOUT, 0.109, LONGEST_LEASE, true));
		careful.verify();
		Grant grant = granted(careful, claim(this.lock, Duration.ofSeconds(10)));
		assertThat(grant.lease()).isEqualTo(Duration.ofSeconds(9));
		get(careful.release(grant));
	}

	@Test
	void majorityThatForgotTheLockRefusesTheRenewal() throws Exception {
		Grant grant = granted(this.first);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).ask("del", key("part")));
		assertThat(renewed(this.first, grant)).isInstanceOf(RenewResult.Refused.class);
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	@Slow
	@Test
	void majorityLostDuringRenewalIsALostLockBeforeTheLeaseEnds() {
		LockRequest shortLease = request(Duration.ofSeconds(1)).toBuilder().leaseTime(Duration.ofSeconds(2)).build();
		try (LockEngine engine = engine(this.first); LockHandle handle = engine.acquire(shortLease)) {
			kill(0, 1, 2);
			awaitLossWithin(Duration.ofSeconds(2), handle);
		}
	}

	@Test
	void interruptedWaiterLeavesNothingOnAnyNode() throws Exception {
		Grant holder = granted(this.first);
		RedlockLockBackend other = open(ports(0, 1, 2, 3, 4), OPTIONS);
		try (LockEngine engine = engine(other)) {
			Thread waiter = new Thread(() -> engine.acquire(request(Duration.ofSeconds(20))));
			waiter.setUncaughtExceptionHandler((thread, failure) -> {
			});
			waiter.start();
			Awaitility.await()
				.until(() -> waiter.getState() == Thread.State.WAITING
						|| waiter.getState() == Thread.State.TIMED_WAITING);
			waiter.interrupt();
			waiter.join(5000);
			assertThat(waiter.isAlive()).isFalse();
		}
		get(this.first.release(holder));
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

}
