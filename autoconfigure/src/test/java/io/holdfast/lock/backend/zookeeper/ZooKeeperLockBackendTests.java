package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.CreateMode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonRefused;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ZooKeeperLockBackend} that are specific to ZooKeeper: sessions, queue
 * nodes, watches, an ensemble whose members fail.
 */
class ZooKeeperLockBackendTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	/** Outlasts a pause of this process. */
	private static final int SESSION_MILLIS = 30_000;

	private static final int SHORT_SESSION = 2_000;

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	private final CuratorFramework client = this.bench.client("127.0.0.1:" + this.wire.port(), SESSION_MILLIS);

	private final ZooKeeperLockBackend store = this.bench.store(this.client);

	private final ZooKeeperLockBackend other = this.bench
		.store(this.bench.client(server.connectString(), SESSION_MILLIS));

	@AfterEach
	void closeAll() throws Exception {
		this.bench.close();
		this.wire.close();
	}

	/** Returns the number of watching sessions for each watched node of Holdfast. */
	private static List<Integer> watches() throws Exception {
		List<Integer> watches = new ArrayList<>();
		boolean ours = false;
		for (String line : server.ask("wchp").lines().toList()) {
			if (line.startsWith("/")) {
				ours = line.startsWith("/holdfast/");
				if (ours) {
					watches.add(0);
				}
			}
			else if (ours && !line.isBlank()) {
				watches.set(watches.size() - 1, watches.get(watches.size() - 1) + 1);
			}
		}
		return watches;
	}

	private void endSession() throws Exception {
		ZooKeeperLockBackendContractTests.endSession(this.client, server.connectString());
	}

	@Test
	void everyWaiterWatchesOneNodeAndAReleaseNotifiesOne() throws Exception {
		Grant holder = granted(this.store, claim(LOCK));
		List<Claim> waiting = List.of(claim(LOCK), claim(LOCK), claim(LOCK));
		List<CompletionStage<?>> signals = new ArrayList<>();
		for (Claim claim : waiting) {
			signals.add(refused(this.other, claim));
		}
		Awaitility.await()
			.atMost(BOUND)
			.untilAsserted(() -> assertThat(watches()).hasSize(3).allMatch((watchers) -> watchers == 1));
		released(this.store, holder);
		awaitSignal(signals.get(0));
		released(this.other, granted(this.other, waiting.get(0)));
		awaitSignal(signals.get(1));
		assertThat(signals.get(2).toCompletableFuture()).isNotDone();
		answer(this.other.abandon(waiting.get(1)));
		answer(this.other.abandon(waiting.get(2)));
		Awaitility.await().atMost(BOUND).untilAsserted(() -> assertThat(watches()).isEmpty());
	}

	@Test
	void overlappingAttemptsOfOneOwnerCreateOneNode() throws Exception {
		Claim claim = claim(LOCK);
		CompletableFuture<AcquireResult> first = this.store.tryAcquire(claim).toCompletableFuture();
		CompletableFuture<AcquireResult> second = this.store.tryAcquire(claim).toCompletableFuture();
		Grant grant = ((Acquired) answer(first)).grant();
		assertThat(((Acquired) answer(second)).grant().storeToken()).isEqualTo(grant.storeToken());
		assertThat(this.bench.nodes()).hasSize(1);
		released(this.store, grant);
		assertThat(this.bench.nodes()).isEmpty();
	}

	@Test
	void claimDoesNotWaitForItsOwnNodeOfAnEarlierAttempt() throws Exception {
		released(this.store, granted(this.store, claim(LOCK)));
		Claim claim = claim(LOCK);
		Grant before = granted(this.other, claim(LOCK));
		String queue = this.bench.nodes().get(0).substring(0, this.bench.nodes().get(0).lastIndexOf('/'));
		this.bench.inspection()
			.create()
			.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
			.forPath(queue + "/" + QueueNodeName.prefix(claim));
		refused(this.store, claim);
		released(this.other, before);
		Grant grant = soonGranted(this.store, claim);
		assertThat(this.bench.nodes()).hasSize(1);
		released(this.store, grant);
	}

	@Slow
	@Test
	void waiterOfAnEndedSessionEnqueuesAgainAndAcquires() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(this.store, waiting);
		endSession();
		awaitSignal(signal);
		released(this.other, holder);
		Grant grant = soonGranted(this.store, waiting);
		assertThat(grant.revoked().toCompletableFuture()).isNotDone();
		soonRenewed(this.store, grant);
		soonReleased(this.store, grant);
	}

	@Slow
	@Test
	void nodeOfAnOlderSessionIsNotTakenForOurs() throws Exception {
		Claim claim = claim(LOCK);
		Grant old = granted(this.store, claim);
		endSession();
		Awaitility.await().atMost(BOUND).until(() -> old.revoked().toCompletableFuture().isDone());
		Grant grant = soonGranted(this.store, claim);
		assertThat(grant.storeToken()).isGreaterThan(old.storeToken());
		soonReleased(this.store, grant);
	}

	@Slow
	@Test
	void partitionedHolderDetectsItsLossBeforeAnotherAcquires() throws Exception {
		LockRequest request = LockRequest.forLock(LOCK).waitTime(BOUND).build();
		ZooKeeperLockBackend partitioned = this.bench
			.store(this.bench.client("127.0.0.1:" + this.wire.port(), SHORT_SESSION));
		try (LockEngine here = this.bench.engine(partitioned); LockEngine there = this.bench.engine(this.other)) {
			LockHandle handle = here.acquire(request);
			CompletableFuture<Void> lost = new CompletableFuture<>();
			handle.onLost((cause) -> lost.complete(null));
			this.wire.close();
			CompletableFuture<Boolean> detectedFirst = there.acquireAsync(request)
				.toCompletableFuture()
				.thenApply((next) -> {
					boolean detected = !handle.isHeld();
					next.close();
					return detected;
				});
			assertThat(answer(detectedFirst)).isTrue();
			awaitSignal(lost);
			handle.close();
		}
	}

	@Test
	void leaseIsAtMostTheSessionTimeThatTheServerGranted() throws Exception {
		ZooKeeperLockBackend eager = this.bench.store(this.bench.client(server.connectString(), 3_600_000));
		Grant grant = granted(eager, claim(LOCK));
		assertThat(grant.lease()).isBetween(Duration.ofSeconds(40), Duration.ofSeconds(60));
		released(eager, grant);
	}

	@Test
	void holdThatIsNotRenewedEndsWithItsOwnLease() throws Exception {
		Grant grant = granted(this.store, lasting(LOCK, Duration.ofMillis(300)));
		assertThat(grant.lease()).isEqualTo(Duration.ofMillis(300));
		released(this.store, grant);
		LockRequest request = LockRequest.forLock(LOCK).leaseTime(Duration.ofMillis(300)).renew(false).build();
		try (LockEngine engine = this.bench.engine(this.store); LockHandle handle = engine.acquire(request)) {
			Awaitility.await().atMost(BOUND).until(() -> this.bench.nodes().isEmpty());
			assertThat(handle.isHeld()).isFalse();
		}
	}

	@Test
	void queuesOfUnusedLocksAreRemoved() throws Exception {
		released(this.store, granted(this.store, claim(LOCK)));
		Awaitility.await().atMost(BOUND).until(() -> this.bench.waitQueues().isEmpty());
	}

	@Test
	void tokensGrowThoughTheQueueWasRemovedInBetween() throws Exception {
		Grant first = granted(this.store, claim(LOCK));
		released(this.store, first);
		this.bench.inspection().delete().deletingChildrenIfNeeded().forPath(this.bench.root());
		Grant second = granted(this.store, claim(LOCK));
		assertThat(second.storeToken()).isGreaterThan(first.storeToken());
		released(this.store, second);
	}

	@Slow
	@Test
	void holdAndWaiterOutliveAMemberOfTheEnsemble() throws Exception {
		try (TestingCluster ensemble = ZooKeeperEnsemble.withoutProxies();
				ZooKeeperBench members = new ZooKeeperBench(ensemble.getConnectString())) {
			// the session outlives a slow election
			CuratorFramework one = members.client(ensemble.getConnectString(), 40_000);
			ZooKeeperLockBackend here = members.store(one);
			ZooKeeperLockBackend there = members.store(members.client(ensemble.getConnectString(), 40_000));
			Grant holder = soonGranted(here, claim(LOCK));
			Claim waiting = claim(LOCK);
			soonRefused(there, waiting);
			ensemble.killServer(ensemble.findConnectionInstance(one.getZookeeperClient().getZooKeeper()));
			Awaitility.await("a renewal")
				.atMost(Duration.ofSeconds(40))
				.until(() -> renewed(here, holder) instanceof RenewResult.Renewed);
			soonReleased(here, holder);
			Grant next = soonGranted(there, waiting);
			assertThat(next.storeToken()).isGreaterThan(holder.storeToken());
			soonReleased(there, next);
		}
	}

	@Slow
	@Test
	void withoutAMajorityNothingIsGrantedOrRenewed() throws Exception {
		try (TestingCluster ensemble = ZooKeeperEnsemble.withoutProxies();
				ZooKeeperBench members = new ZooKeeperBench(ensemble.getConnectString())) {
			ZooKeeperLockBackend here = members.store(members.client(ensemble.getConnectString(), SHORT_SESSION));
			Grant holder = soonGranted(here, claim(LOCK));
			for (TestingZooKeeperServer member : ensemble.getServers().subList(0, 2)) {
				member.stop();
			}
			assertThat(ask(here, claim(LOCK))).isInstanceOf(AcquireResult.Indeterminate.class);
			assertThat(renewed(here, holder)).isNotInstanceOf(RenewResult.Renewed.class);
		}
	}

}
