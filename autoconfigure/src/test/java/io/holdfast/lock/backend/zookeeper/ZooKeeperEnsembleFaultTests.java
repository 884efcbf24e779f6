package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.CountDownLatch;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.spi.observation.RenewalOutcome;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonRefused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for an ensemble of which one member lags behind, or whose leader dies at the
 * worst moment.
 */
@Slow
class ZooKeeperEnsembleFaultTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	/** A client that misses a ping connects again, and sees no stale view. */
	private static final int SESSION_MILLIS = 6_000;

	/** Longer than a lagging member needs for a response of its own. */
	private static final Duration SHORTLY = Duration.ofSeconds(1);

	private static final Duration LONG = Duration.ofSeconds(60);

	private final ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();

	private final int follower = this.ensemble.follower();

	private final ZooKeeperBench bench = new ZooKeeperBench(this.ensemble.leader());

	private final ZooKeeperLockBackend atLeader = this.bench
		.store(this.bench.client(this.ensemble.leader(), SESSION_MILLIS));

	private final CuratorFramework clientOfFollower = this.bench.client("127.0.0.1:" + this.follower, SESSION_MILLIS);

	private final ZooKeeperLockBackend atFollower = this.bench.storeWithoutHeartbeats(this.clientOfFollower);

	ZooKeeperEnsembleFaultTests() throws Exception {
	}

	@AfterEach
	void closeAll() throws Exception {
		this.ensemble.flow(this.follower);
		this.bench.close();
		this.ensemble.close();
	}

	private void awaitGone(String path) {
		Awaitility.await("the end of " + path)
			.atMost(LONG)
			.until(() -> this.bench.inspection().checkExists().forPath(path) == null);
	}

	/**
	 * Stalls the follower while no request of its client waits for the leader. Such a
	 * request would keep the client from its stale view, and cost it its connection.
	 */
	private void stallFollower(String path) {
		Awaitility.await("a follower that answers alone").atMost(LONG).until(() -> {
			awaitRequestsAfterEvents(path);
			this.ensemble.stall(this.follower);
			CompletableFuture<Boolean> shows = CompletableFuture.supplyAsync(() -> followerStillShows(path))
				.completeOnTimeout(false, SHORTLY.toMillis(), TimeUnit.MILLISECONDS);
			if (!shows.join()) {
				this.ensemble.flow(this.follower);
			}
			return shows.join();
		});
	}

	/** The response arrives on the thread that handles the events before it. */
	private void awaitRequestsAfterEvents(String path) throws Exception {
		CompletableFuture<CuratorEvent> response = new CompletableFuture<>();
		this.clientOfFollower.checkExists().inBackground((client, event) -> response.complete(event)).forPath(path);
		answer(response);
	}

	private boolean followerStillShows(String path) {
		try {
			return this.clientOfFollower.checkExists().forPath(path) != null;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void staleViewOfALaggingMemberIsNoRenewal() throws Exception {
		Grant holder = soonGranted(this.atFollower, claim(LOCK));
		String path = this.bench.nodes().get(0);
		stallFollower(path);
		awaitGone(path);
		Grant next = soonGranted(this.atLeader, claim(LOCK));
		assertThat(followerStillShows(path)).isTrue();
		CompletableFuture<RenewResult> renewal = CompletableFuture.supplyAsync(() -> renewedOf(holder));
		assertThat(renewal).failsWithin(SHORTLY);
		this.ensemble.flow(this.follower);
		assertThat(renewal).succeedsWithin(LONG).isNotInstanceOf(RenewResult.Renewed.class);
		Awaitility.await("a refusal")
			.atMost(LONG)
			.until(() -> renewed(this.atFollower, holder) instanceof RenewResult.Refused);
		released(this.atLeader, next);
	}

	private RenewResult renewedOf(Grant grant) {
		return this.atFollower.renew(List.of(grant)).toCompletableFuture().join().get(0);
	}

	@Test
	void staleViewOfALaggingMemberIsNoGrant() throws Exception {
		Grant holder = soonGranted(this.atLeader, claim(LOCK));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = soonRefused(this.atFollower, waiting);
		released(this.atLeader, holder);
		awaitSignal(signal);
		String path = Awaitility.await().until(this.bench::nodes, (nodes) -> nodes.size() == 1).get(0);
		stallFollower(path);
		awaitGone(path);
		Grant next = soonGranted(this.atLeader, claim(LOCK));
		assertThat(followerStillShows(path)).isTrue();
		assertThat(ask(this.atFollower, waiting)).as("the validity of an ended session")
			.isInstanceOf(AcquireResult.Indeterminate.class);
		CompletableFuture<AcquireResult> attempt = this.atFollower.tryAcquire(waiting).toCompletableFuture();
		assertThat(attempt).failsWithin(SHORTLY);
		this.ensemble.flow(this.follower);
		assertThat(attempt).succeedsWithin(LONG).isNotInstanceOf(AcquireResult.Acquired.class);
		released(this.atLeader, next);
		Grant late = Awaitility.await("a grant").atMost(LONG).until(() -> {
			AcquireResult result = ask(this.atFollower, waiting);
			return (result instanceof AcquireResult.Acquired acquired) ? acquired.grant() : null;
		}, (grant) -> grant != null);
		assertThat(late.storeToken()).isGreaterThan(next.storeToken());
		released(this.atFollower, late);
	}

	@Test
	void partitionedMemberDoesNotExtendTheHoldBeyondTheSession() throws Exception {
		CountDownLatch renewals = new CountDownLatch(3);
		LockEngine here = this.bench.engine(this.bench.store(this.clientOfFollower), new LockObserver() {

			@Override
			public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
				renewals.countDown();
				if (renewals.getCount() == 0) {
					ZooKeeperEnsembleFaultTests.this.ensemble.stall(ZooKeeperEnsembleFaultTests.this.follower);
				}
			}

		});
		LockEngine there = this.bench.engine(this.atLeader);
		LockRequest request = LockRequest.forLock(LOCK).waitTime(LONG).build();
		LockHandle first = answer(here.acquireAsync(request));
		CompletableFuture<Boolean> alone = there.acquireAsync(request).toCompletableFuture().thenApply((next) -> {
			boolean firstHeld = first.isHeld();
			next.close();
			return !firstHeld;
		});
		assertThat(alone).as("the first detects its loss before the second holds").succeedsWithin(LONG).isEqualTo(true);
		assertThat(renewals.getCount()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void leaderFailureDuringCreationLeavesOneNodeAndOneHold(boolean made) throws Exception {
		try (TcpProxy wire = TcpProxy.to(this.follower);
				CuratorFramework client = this.bench.client("127.0.0.1:" + wire.port(), 10_000);
				ZooKeeperLockBackend store = this.bench.store(client)) {
			Grant before = soonGranted(store, claim(LOCK));
			released(store, before);
			Claim claim = claim(LOCK);
			if (made) {
				wire.loseNextReplyTo("/x-");
			}
			else {
				wire.holdNext("/x-", this.ensemble::killLeader);
			}
			CompletableFuture<AcquireResult> first = store.tryAcquire(claim).toCompletableFuture();
			if (made) {
				this.ensemble.killLeader();
			}
			assertThat(answer(first)).isNotInstanceOf(AcquireResult.Contended.class);
			Grant grant = soonGranted(store, claim);
			String queue = ZooKeeperLockBackendContractTests.children(client, this.bench.root()).get(0);
			String path = this.bench.root() + "/" + queue;
			List<String> nodes = client.getChildren().forPath(path);
			assertThat(nodes).hasSize(1);
			assertThat(grant.storeToken()).isGreaterThan(before.storeToken())
				.isEqualTo(client.checkExists().forPath(path + "/" + nodes.get(0)).getCzxid());
			refused(store, claim(LOCK));
			released(store, grant);
		}
	}

}
