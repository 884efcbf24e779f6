package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for the order in which waiters of several clients acquire a lock.
 */
class RedlockWaitQueueTests extends FiveNodes {

	private RedlockLockBackend second;

	@BeforeEach
	void startSecond() {
		this.second = started();
	}

	private RedlockLockBackend started() {
		RedlockLockBackend backend = open(ports(0, 1, 2, 3, 4), OPTIONS);
		TestNodes.connect(backend);
		return backend;
	}

	@Test
	void releaseNotifiesTheFirstWaiterAndKeepsTheLockForIt() throws Exception {
		Grant holder = granted(this.first);
		Claim early = waiter("1", LockMode.EXCLUSIVE);
		Contended notified = waits(this.second, early);
		Claim late = waiter("2", LockMode.EXCLUSIVE);
		Contended next = waits(this.first, late);
		get(this.first.release(holder));
		get(notified.signal());
		refused(this.first, claim());
		Grant grant = granted(this.second, early);
		assertThat(next.signal().toCompletableFuture()).isNotDone();
		get(this.second.release(grant));
		get(next.signal());
		get(this.first.release(granted(this.first, late)));
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	@Test
	void releaseGrantsTheLockToTheFirstWaiter() throws Exception {
		KeptLock kept = keptForSecond(0, 1, 2, 3, 4);
		assertThat(kept.after()).isPositive();
		assertThat(kept.time()).isBetween(Duration.ofMillis(900), Duration.ofSeconds(1));
		refused(this.first, claim());
		assertThat(renewed(this.second, kept.grant())).isInstanceOf(RenewResult.Renewed.class);
		released(this.second, kept.grant());
		assertThat(soonGranted(this.first, claim()).storeToken()).isGreaterThan(kept.grant().storeToken());
		assertThat(this.second.waiting()).isZero();
	}

	@Test
	void releaseGrantsTheLockWhileTwoNodesAreDown() throws Exception {
		kill(1, 3);
		assertThat(keptForSecond(0, 2, 4)).isNotNull();
	}

	/**
	 * Returns the lock that a release has granted to a waiter. The nodes have the same
	 * latest token before the holder acquires the lock. A waiter retries instead if one
	 * of them was late and has another token, or if its notice was late.
	 */
	private KeptLock keptForSecond(int... running) throws Exception {
		for (int i = 0; i < 10; i++) {
			String latest = Long.toString(4_000_000_000_000_000L + 1_000 * i);
			IntStream.of(running).forEach((node) -> nodes.get(node).ask("set", key("part-token"), latest));
			Grant holder = soonGranted(this.first, claim());
			Claim claim = waiter("1", LockMode.EXCLUSIVE);
			Contended waiting = waits(this.second, claim);
			get(this.first.release(holder));
			if (get(waiting.signal()) instanceof KeptLock kept) {
				assertThat(kept.grant().storeToken()).isGreaterThan(holder.storeToken());
				return kept;
			}
			get(this.second.abandon(claim));
		}
		return fail("no release granted the lock to the waiter");
	}

	/** It asks all nodes, which then agree on a token. */
	@Test
	void waiterToWhichTheNodesGrantUnequalTokensRetries() throws Exception {
		Grant holder = granted(this.first);
		for (int i = 0; i < 3; i++) {
			nodes.get(i).ask("incrby", key("part-token"), Integer.toString(10 * (i + 1)));
		}
		Claim claim = waiter("1", LockMode.EXCLUSIVE);
		Contended waiting = waits(this.second, claim);
		get(this.first.release(holder));
		assertThat(waiting.signal().toCompletableFuture().get(10, TimeUnit.SECONDS)).isNull();
		assertThat(granted(this.second, claim).storeToken()).isGreaterThan(holder.storeToken());
	}

	/** A node without its memory grants nothing, however it got the wait queue. */
	@Test
	void nodesThatDoNotVoteGrantNothing() throws Exception {
		Grant holder = granted(this.first);
		Contended waiting = waits(this.second, waiter("1", LockMode.EXCLUSIVE));
		nodes.each((node) -> node.ask("hdel", "test:redlock", "admitted"));
		get(this.first.release(holder));
		assertThat(waiting.signal().toCompletableFuture().get(10, TimeUnit.SECONDS)).isNull();
		assertThat(nodes.all()).allMatch((node) -> node.keys(key("part")).isEmpty());
	}

	@Test
	void releaseNotifiesAWaiterWhileTwoNodesAreDown() throws Exception {
		kill(1, 3);
		Grant holder = granted(this.first);
		Claim claim = waiter("1", LockMode.EXCLUSIVE);
		Contended waiting = waits(this.second, claim);
		get(this.first.release(holder));
		get(waiting.signal());
		get(this.second.release(granted(this.second, claim)));
	}

	@Test
	void releaseNotifiesAllReadersBeforeTheNextWriter() throws Exception {
		Grant holder = granted(this.first);
		Claim one = waiter("1", LockMode.SHARED);
		Contended ofOne = waits(this.first, one);
		Claim two = waiter("2", LockMode.SHARED);
		Contended ofTwo = waits(this.second, two);
		Claim writer = waiter("3", LockMode.EXCLUSIVE);
		Contended ofWriter = waits(this.second, writer);
		Contended behind = waits(this.first, waiter("4", LockMode.SHARED));
		get(this.first.release(holder));
		get(ofOne.signal());
		get(ofTwo.signal());
		Grant grant = granted(this.first, one);
		get(this.second.release(granted(this.second, two)));
		assertThat(behind.signal().toCompletableFuture()).isNotDone();
		assertThat(ofWriter.signal().toCompletableFuture()).isNotDone();
		get(this.first.release(grant));
		get(ofWriter.signal());
		get(this.second.release(granted(this.second, writer)));
		get(behind.signal());
	}

	@Slow
	@Test
	void waiterThatDoesNotRetryLosesItsReservation() throws Exception {
		Grant holder = granted(this.first);
		Contended silent = waits(this.second, waiter("1", LockMode.EXCLUSIVE));
		get(this.first.release(holder));
		get(silent.signal());
		soonGranted(this.first, claim());
		assertThat(nodes.all()).allMatch((node) -> node.keys(key("part-waiters")).isEmpty());
	}

	@Test
	void withdrawnWaiterPassesItsNotificationOn() throws Exception {
		Grant holder = granted(this.first);
		Claim leaving = waiter("1", LockMode.EXCLUSIVE);
		Contended notified = waits(this.second, leaving);
		Claim staying = waiter("2", LockMode.EXCLUSIVE);
		Contended waiting = waits(this.first, staying);
		get(this.first.release(holder));
		get(notified.signal());
		get(this.second.abandon(leaving));
		get(waiting.signal());
		granted(this.first, staying);
	}

	@Test
	void positionOfADeadClientDoesNotDelayTheNext() throws Exception {
		Grant holder = granted(this.first);
		RedlockLockBackend dying = started();
		waits(dying, waiter("1", LockMode.EXCLUSIVE));
		dying.close();
		Contended waiting = waits(this.second, waiter("2", LockMode.EXCLUSIVE));
		get(this.first.release(holder));
		get(waiting.signal());
	}

	/**
	 * All nodes must notify the same waiter, in whatever order the claims arrive.
	 */
	@Test
	void ownerIdsOrderTheWaitersOfTheSameMoment() {
		RedisServer node = nodes.get(0);
		Awaitility.await().until(() -> {
			node.ask("flushall");
			TestNodes.admit(node);
			acquire(node, "holder", 0);
			List.of("c", "a", "b").forEach((owner) -> acquire(node, owner, 0));
			return waiters(node).map((waiter) -> waiter.split("\\|")[0]).distinct().count() == 1;
		});
		undo(node, "holder", 0);
		assertThat(notified(node)).isEqualTo("a");
		acquire(node, "a", 0);
		undo(node, "a", -1_000);
		assertThat(notified(node)).isEqualTo("b");
	}

	@Test
	void nodesOfASplitVoteNotifyTheOneThatHasWaitedLongest() {
		Map<String, Integer> waited = Map.of("a", 3_000, "b", 2_000, "c", 1_000);
		List<String> grants = List.of("a", "a", "b", "b", "c");
		for (int i = 0; i < 5; i++) {
			String granted = grants.get(i);
			RedisServer node = nodes.get(i);
			acquire(node, granted, waited.get(granted));
			waited.forEach((owner, millis) -> acquire(node, owner, millis));
		}
		for (int i = 4; i >= 0; i--) {
			undo(nodes.get(i), grants.get(i), waited.get(grants.get(i)));
		}
		assertThat(nodes.all()).allMatch((node) -> notified(node).equals("a"));
	}

	private String acquire(RedisServer node, String owner, long waited) {
		return node.ask("eval", RedlockScripts.ACQUIRE.text(), "5", key("part"), key("part-token"), "test:redlock",
				key("part-readers"), key("part-waiters"), "r", "1", owner, "60000", "1", "60000", "EXCLUSIVE", "60000",
				Long.toString(waited), this.second.instance(), "0");
	}

	/** Releases what a claim has on a node. The claim waits again. */
	private void undo(RedisServer node, String owner, long waited) {
		node.ask("eval", RedlockScripts.RELEASE.text(), "5", key("part"), key("part-token"), "test:redlock",
				key("part-readers"), key("part-waiters"), "r", "1", owner, "1", "EXCLUSIVE", "60000",
				Long.toString(waited), this.second.instance(), "test:wake:", "60000", "60000");
	}

	private Stream<String> waiters(RedisServer node) {
		return Stream.of(node.ask("zrange", key("part-waiters"), "0", "-1").split("\n"));
	}

	/** Returns the owner for which a node reserves the lock. */
	private String notified(RedisServer node) {
		return waiters(node).filter((waiter) -> waiter.startsWith("0|"))
			.map((waiter) -> waiter.substring(waiter.lastIndexOf('|') + 1))
			.collect(Collectors.joining(", "));
	}

	/**
	 * Otherwise a waiter would retry again and again while another owner holds the lock.
	 */
	@Test
	void partialGrantBesideAHolderIsUndoneWithoutANotification() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		Grant holder = granted(cutOff);
		Claim claim = waiter("1", LockMode.EXCLUSIVE);
		Contended waiting = waits(this.second, claim);
		for (RedisServer node : List.of(nodes.get(3), nodes.get(4))) {
			Awaitility.await().until(() -> waiters(node).anyMatch((waiter) -> waiter.endsWith(claim.owner().value())));
			assertThat(notified(node)).isEmpty();
		}
		get(cutOff.release(holder));
		get(waiting.signal());
		get(this.second.release(granted(this.second, claim)));
	}

	/** Each turn is up to 64 holds, because a lease passes from caller to caller. */
	@Test
	void twoClientsTakeTurns() throws Exception {
		int all = 50 * 64;
		Grant holder = granted(this.first);
		AtomicInteger left = new AtomicInteger(all);
		AtomicIntegerArray holds = new AtomicIntegerArray(2);
		// turns end by their number of holds: on a busy machine, few fit into a short
		// time
		EngineSettings settings = settings().handoff(64, Duration.ofSeconds(10)).build();
		try (LockEngine one = engine(this.first, settings); LockEngine two = engine(this.second, settings)) {
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				int client = i % 2;
				threads.add(new Thread(() -> {
					while (left.getAndDecrement() > 0) {
						try (LockHandle handle = ((client == 0) ? one : two).acquire(request(Duration.ofMinutes(1)))) {
							holds.incrementAndGet(client);
							awaitWaiter((client == 0) ? this.second : this.first, left);
						}
					}
				}));
			}
			threads.forEach(Thread::start);
			Awaitility.await("a waiter of each client")
				.until(() -> this.first.waiting() == 1 && this.second.waiting() == 1);
			get(this.first.release(holder));
			for (Thread thread : threads) {
				thread.join(60_000);
			}
		}
		assertThat(holds.get(0) + holds.get(1)).isEqualTo(all);
		assertThat(Math.max(holds.get(0), holds.get(1))).as("holds of one client").isLessThanOrEqualTo(all * 6 / 10);
	}

	/** On a busy machine, a turn may otherwise end before the other client waits. */
	private static void awaitWaiter(RedlockLockBackend client, AtomicInteger left) {
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> client.waiting() > 0 || left.get() <= 0);
	}

	@Test
	void nothingStaysInTheMemoryOfAClient() throws Exception {
		Grant holder = granted(this.first);
		Claim one = waiter("1", LockMode.EXCLUSIVE);
		Claim two = waiter("2", LockMode.EXCLUSIVE);
		Claim three = waiter("3", LockMode.EXCLUSIVE);
		for (Claim claim : List.of(one, two, three)) {
			waits(this.second, claim);
		}
		assertThat(this.second.waiting()).isEqualTo(3);
		refused(this.second, three.withRemainingWait(Duration.ZERO));
		get(this.second.abandon(two));
		get(this.first.release(holder));
		get(this.second.release(soonGranted(this.second, one)));
		assertThat(this.second.waiting()).isZero();
	}

	/** Makes an attempt that is refused, and waits until all nodes know of it. */
	private static Contended waits(RedlockLockBackend backend, Claim claim) throws Exception {
		Contended result = refused(backend, claim);
		Awaitility.await().until(() -> backend.underWay() == 0);
		return result;
	}

}
