package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for faults between one client and one server, each at the critical moment.
 */
class ZooKeeperFaultTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final int SHORT_SESSION = 2_000;

	private static final int LONG_SESSION = 30_000;

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	private final ZooKeeperLockBackend store = store(LONG_SESSION);

	private final ZooKeeperLockBackend other = this.bench
		.store(this.bench.client(server.connectString(), LONG_SESSION));

	@AfterEach
	void closeAll() throws Exception {
		this.bench.close();
		this.wire.close();
	}

	private ZooKeeperLockBackend store(int sessionMillis) {
		return this.bench.store(this.bench.client("127.0.0.1:" + this.wire.port(), sessionMillis));
	}

	private long czxid(String path) throws Exception {
		return this.bench.inspection().checkExists().forPath(path).getCzxid();
	}

	private static void quietly(AutoCloseable action) {
		try {
			action.close();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Slow
	@Test
	void nodeOfAnAbandonedSessionIsNotTakenForOurs() throws Exception {
		CuratorFramework client = this.bench.client("127.0.0.1:" + this.wire.port(), LONG_SESSION);
		ZooKeeperLockBackend here = this.bench.store(client);
		Claim claim = claim(LOCK);
		Grant old = granted(here, claim);
		String path = this.bench.nodes().get(0);
		this.wire.stall();
		this.wire.cut();
		client.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
		this.wire.flow();
		awaitSignal(old.revoked());
		assertThat(this.bench.nodes()).as("the server does not know yet").containsExactly(path);
		assertThat(renewed(here, old)).isInstanceOf(RenewResult.Refused.class);
		Grant newGrant = soonGranted(here, claim);
		assertThat(this.bench.nodes()).hasSize(1).doesNotContain(path);
		assertThat(newGrant.storeToken()).isEqualTo(czxid(this.bench.nodes().get(0))).isGreaterThan(old.storeToken());
		released(here, newGrant);
	}

	@Slow
	@Test
	void tokenAfterALostReplyIsThatOfTheNodeAndGreaterThanAllBefore() throws Exception {
		Grant before = granted(this.store, claim(LOCK));
		released(this.store, before);
		Claim claim = claim(LOCK);
		this.wire.loseNextReplyTo("/x-");
		Grant grant = soonGranted(this.store, claim);
		assertThat(this.bench.nodes()).hasSize(1);
		assertThat(grant.storeToken()).isEqualTo(czxid(this.bench.nodes().get(0))).isGreaterThan(before.storeToken());
		refused(this.other, claim(LOCK));
		released(this.store, grant);
	}

	@Slow
	@Test
	void releaseWhoseReplyIsLostIsNotTakenForALoss() throws Exception {
		ZooKeeperLockBackend retrying = this.bench
			.store(this.bench.client("127.0.0.1:" + this.wire.port(), LONG_SESSION, new RetryNTimes(100, 100)));
		Grant grant = granted(retrying, claim(LOCK));
		this.wire.loseNextReplyTo("/x-");
		assertThat(answer(retrying.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(this.bench.nodes()).as("the server has deleted it").isEmpty();
		soonGranted(this.other, claim(LOCK));
	}

	@Slow
	@Test
	void releaseOnABrokenConnectionDeletesItsNodeWithoutTheEngine() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.wire.stall();
		CompletableFuture<ReleaseResult> release = this.store.release(grant).toCompletableFuture();
		this.wire.cut();
		assertThat(answer(release)).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(this.bench.nodes()).hasSize(1);
		this.wire.flow();
		Awaitility.await("the deletion").atMost(BOUND).until(() -> this.bench.nodes().isEmpty());
	}

	@Slow
	@Test
	void watchOutlastsAnInterruptionAndSignalsOnlyTheDeletion() throws Exception {
		CuratorFramework client = this.bench.client("127.0.0.1:" + this.wire.port(), LONG_SESSION);
		Grant grant = granted(this.other, claim(LOCK));
		AtomicInteger signals = new AtomicInteger();
		CuratorCalls calls = new CuratorCalls(client);
		calls.watch(this.bench.nodes().get(0), (deleted) -> signals.incrementAndGet()).set().join();
		this.wire.cut();
		Awaitility.await("the connection").atMost(BOUND).until(() -> succeeds(calls.sync("/")));
		assertThat(signals).hasValue(0);
		released(this.other, grant);
		Awaitility.await("the signal").atMost(BOUND).until(() -> signals.get() > 0);
		assertThat(signals).hasValue(1);
	}

	private static boolean succeeds(CompletableFuture<Void> request) {
		return request.handle((done, failure) -> failure == null).join();
	}

	@Test
	void deletedNodeIsALossAndCannotBeReentered() throws Exception {
		LockEngine engine = this.bench.engine(store(SHORT_SESSION));
		try (LockHandle handle = engine.acquire(LockRequest.of("stock", 42))) {
			this.bench.inspection().delete().forPath(this.bench.nodes().get(0));
			Awaitility.await("the loss").atMost(BOUND).until(() -> !handle.isHeld());
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> engine.acquire(LockRequest.of("stock", 42)));
			Grant next = granted(this.other, claim(LOCK));
			assertThat(next.storeToken() << 10).isGreaterThan(handle.fencingToken().value());
			handle.close();
			assertThat(this.bench.nodes()).as("of the next holder").hasSize(1);
			released(this.other, next);
		}
	}

	/** The step at which a waiting acquisition ends. */
	enum Step {

		CREATION_SENT, CREATION_REPLY_LOST, WATCH_SENT, WAITING, NEXT_CHECK_SENT

	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void interruptAtAnyStepLeavesNoNode(Step step) throws Exception {
		LockEngine engine = this.bench.engine(this.store);
		leavesNoNode(step, () -> {
			CompletableFuture<Thread> thread = new CompletableFuture<>();
			CompletableFuture<LockHandle> handle = CompletableFuture.supplyAsync(() -> {
				thread.complete(Thread.currentThread());
				return engine.acquire(LockRequest.forLock(LOCK).waitTime(BOUND).build());
			}, (task) -> new Thread(task).start());
			return new Attempt(handle, () -> interrupt(thread.join(), handle));
		});
	}

	/** Interrupts a thread, and gives it time to react before the response arrives. */
	private static void interrupt(Thread thread, CompletableFuture<?> result) {
		thread.interrupt();
		result.handle((value, failure) -> value).completeOnTimeout(null, 2, TimeUnit.SECONDS).join();
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void cancellationAtAnyStepLeavesNoNode(Step step) throws Exception {
		LockEngine engine = this.bench.engine(this.store);
		leavesNoNode(step, () -> {
			CompletableFuture<LockHandle> handle = engine
				.acquireAsync(LockRequest.forLock(LOCK).waitTime(BOUND).build())
				.toCompletableFuture();
			return new Attempt(handle, () -> handle.cancel(false));
		});
	}

	private void leavesNoNode(Step step, Supplier<Attempt> begin) throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		String first = this.bench.nodes().get(0);
		// a waiter that has seen two nodes before its own asks the leader
		Claim second = claim(LOCK);
		if (step == Step.NEXT_CHECK_SENT) {
			refused(this.other, second);
		}
		CompletableFuture<Attempt> attempt = new CompletableFuture<>();
		Runnable end = () -> attempt.join().end().run();
		switch (step) {
			case CREATION_SENT -> this.wire.holdNext("/x-", end);
			case CREATION_REPLY_LOST -> {
				this.wire.loseNextReplyTo("/x-");
				this.wire.holdNext("/x-", end);
			}
			case WATCH_SENT -> this.wire.holdNext(first, end);
			default -> {
			}
		}
		attempt.complete(begin.get());
		if (step == Step.WAITING || step == Step.NEXT_CHECK_SENT) {
			String watched = (step == Step.WAITING) ? first : second.owner().value();
			Awaitility.await("a waiter").atMost(BOUND).until(() -> server.ask("wchp").contains(watched));
			if (step == Step.WAITING) {
				end.run();
			}
			else {
				released(this.other, holder);
				Grant next = granted(this.other, second);
				this.wire.holdNext(this.bench.waitQueues().get(0), end);
				released(this.other, next);
			}
		}
		assertThat(attempt.join().handle()).failsWithin(BOUND);
		if (step != Step.NEXT_CHECK_SENT) {
			Awaitility.await("its node to go")
				.atMost(BOUND)
				.untilAsserted(() -> assertThat(this.bench.nodes()).containsExactly(first));
			released(this.other, holder);
		}
		Awaitility.await("all nodes to go").atMost(BOUND).until(() -> this.bench.nodes().isEmpty());
		released(this.other, granted(this.other, claim(LOCK)));
	}

	/**
	 * An acquisition under way.
	 *
	 * @param handle the handle that it is to return
	 * @param end ends it
	 */
	private record Attempt(CompletableFuture<LockHandle> handle, Runnable end) {
	}

	@Test
	void predecessorGoneBeforeItsWatchNotifiesTheWaiter() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		this.wire.holdNext(this.bench.nodes().get(0), () -> quietly(() -> released(this.other, holder)));
		CompletionStage<?> signal = refused(this.store, waiting);
		awaitSignal(signal);
		released(this.store, granted(this.store, waiting));
		assertThat(watchedNodes()).isEmpty();
	}

	@Test
	void queueRemovedDuringCreationIsCreatedAgain() throws Exception {
		Grant before = granted(this.store, claim(LOCK));
		released(this.store, before);
		this.wire.holdNext("/x-", () -> quietly(
				() -> this.bench.inspection().delete().quietly().deletingChildrenIfNeeded().forPath("/holdfast")));
		Grant grant = granted(this.store, claim(LOCK));
		assertThat(grant.storeToken()).isGreaterThan(before.storeToken());
		refused(this.other, claim(LOCK));
		released(this.store, grant);
	}

	@Test
	void foreignNodesInAQueueAreIgnored() throws Exception {
		released(this.store, granted(this.store, claim(LOCK)));
		Grant holder = granted(this.store, claim(LOCK));
		String queue = this.bench.waitQueues().get(0);
		List<String> foreign = List.of("config", "lock-0000000000", "x-", "x-me-0000000000",
				"_c_" + OwnerId.random() + "-lock-0000000000", "y-" + OwnerId.random() + "-0000000000");
		for (String name : foreign) {
			this.bench.inspection().create().withMode(CreateMode.PERSISTENT).forPath(queue + "/" + name);
		}
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(this.other, waiting);
		released(this.store, holder);
		awaitSignal(signal);
		released(this.other, granted(this.other, waiting));
		released(this.store, granted(this.store, claim(LOCK)));
		assertThat(this.bench.inspection().getChildren().forPath(queue)).as("still there")
			.containsExactlyInAnyOrderElementsOf(foreign);
	}

	@Slow
	@Test
	void thousandWaitersThatTimeOutLeaveNeitherNodesNorWatches() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		List<Claim> claims = Stream.generate(() -> claim(LOCK)).limit(1_000).toList();
		List<CompletableFuture<AcquireResult>> answers = claims.stream()
			.map((claim) -> this.store.tryAcquire(claim).toCompletableFuture())
			.toList();
		for (CompletableFuture<AcquireResult> answer : answers) {
			assertThat(answer(answer)).isInstanceOf(AcquireResult.Contended.class);
		}
		for (Claim claim : claims) {
			this.store.abandon(claim);
		}
		Awaitility.await("the waiters to go")
			.atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThat(this.bench.nodes()).hasSize(1));
		assertThat(watchedNodes()).as("the client takes a watch back on its own side, so that of the holder stays")
			.isSubsetOf(this.bench.nodes());
		released(this.other, holder);
		Awaitility.await("the watches to go").atMost(BOUND).until(() -> watchedNodes().isEmpty());
		assertThat(this.store.remembered()).isZero();
	}

	/** The client sets its watches again once it is connected again. */
	@Slow
	@Test
	void waiterThatGivesUpWithoutAConnectionLeavesNoWatch() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiter = claim(LOCK);
		refused(this.store, waiter);
		Awaitility.await("the watch").atMost(BOUND).until(() -> !watchedNodes().isEmpty());
		this.wire.refuse("");
		assertThat(succeeds(this.store.abandon(waiter).toCompletableFuture())).isFalse();
		this.wire.refuseNothing();
		Awaitility.await("the withdrawal")
			.atMost(BOUND)
			.until(() -> succeeds(this.store.abandon(waiter).toCompletableFuture()));
		assertThat(watchedNodes()).isEmpty();
		released(this.other, holder);
	}

	private static List<String> watchedNodes() throws Exception {
		return server.ask("wchp").lines().filter((line) -> line.startsWith("/holdfast/")).toList();
	}

}
