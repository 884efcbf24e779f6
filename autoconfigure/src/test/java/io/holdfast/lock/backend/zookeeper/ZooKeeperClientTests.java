package io.holdfast.lock.backend.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockState;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
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

/**
 * Tests for clients that the application configures, resets or closes, and for nodes that
 * others touch.
 */
class ZooKeeperClientTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final int SESSION_MILLIS = 30_000;

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	@AutoClose
	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	private final CuratorFramework client = this.bench.client(server.connectString(), SESSION_MILLIS);

	private final ZooKeeperLockBackend store = this.bench.store(this.client);

	private final ZooKeeperLockBackend other = this.bench
		.store(this.bench.client(server.connectString(), SESSION_MILLIS));

	private static CuratorFrameworkFactory.Builder builder() {
		return ZooKeeperBench.builder(server.connectString(), SESSION_MILLIS, new RetryNTimes(1, 100));
	}

	/** Closing the client ends its session, and others acquire the lock at once. */
	@Test
	void holdOfAClientThatTheApplicationClosesIsLost() {
		LockEngine engine = this.bench.engine(this.store);
		try (LockHandle handle = engine.acquire(LockRequest.of("stock", 42))) {
			this.client.close();
			Grant next = soonGranted(this.other, claim(LOCK));
			assertThat(handle.isHeld()).isFalse();
			assertThat(next.storeToken() << 10).isGreaterThan(handle.fencingToken().value());
		}
	}

	@Test
	void waiterOfAClientThatTheApplicationClosesIsNotified() throws Exception {
		granted(this.other, claim(LOCK));
		CompletionStage<?> signal = refused(this.store, claim(LOCK));
		this.client.close();
		awaitSignal(signal);
		assertThat(this.store.remembered()).isZero();
	}

	/** Such a view does not announce that its client is being closed. */
	@Test
	void viewOfAClosedClientConfirmsNoHold() throws Exception {
		try (ZooKeeperLockBackend view = new ZooKeeperLockBackend(this.client.usingNamespace("view"),
				new ZooKeeperLockOptions("/holdfast", "shop", WhenSuspended.WAIT), Duration.ofSeconds(10))) {
			Grant grant = granted(view, claim(LOCK));
			assertThat(answer(view.confirm(grant))).isTrue();
			this.client.close();
			assertThat(view.confirm(grant).toCompletableFuture()).isNotDone();
		}
	}

	@Test
	void holdOfAClientThatTheApplicationResetsIsLost() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.client.getZookeeperClient().reset();
		awaitSignal(grant.revoked());
	}

	@Test
	void changedContentOfANodeIsNoLoss() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.bench.inspection().setData().forPath(this.bench.nodes().get(0), "edited".getBytes(StandardCharsets.UTF_8));
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Renewed.class);
		released(this.store, grant);
		released(this.other, granted(this.other, claim(LOCK)));
	}

	@Test
	void holderThatLeavesDuringALookupDoesNotHideTheNextOne() throws Exception {
		try (TcpProxy wire = TcpProxy.to(server.port())) {
			ZooKeeperLockBackend asking = this.bench
				.store(this.bench.client("127.0.0.1:" + wire.port(), SESSION_MILLIS));
			Grant holder = soonGranted(asking, claim(LOCK));
			released(asking, holder);
			Grant leaving = granted(this.store, claim(LOCK));
			Claim next = claim(LOCK);
			refused(this.other, next);
			String node = this.bench.nodes()
				.stream()
				.filter((path) -> path.contains(leaving.claim().owner().value()))
				.findFirst()
				.orElseThrow();
			wire.holdNext(node, () -> this.store.release(leaving).toCompletableFuture().join());
			LockState state = answer(asking.find(LOCK));
			assertThat(state.holders()).singleElement()
				.satisfies((found) -> assertThat(found.ownerId()).isEqualTo(next.owner().value()));
			assertThat(state.waiters()).isZero();
		}
	}

	@Test
	void foreignNodeIsNoWaiter() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.bench.inspection().create().forPath(this.bench.waitQueues().get(0) + "/config");
		assertThat(answer(this.store.find(LOCK)).waiters()).isZero();
		released(this.store, grant);
	}

	/** The waiter cannot decompress the content of the node before its own. */
	@Test
	void waiterOfACompressingClientWaitsForTheDeletion() throws Exception {
		ZooKeeperLockBackend compressing = this.bench.store(this.bench.client(builder().enableCompression()));
		Grant holder = granted(this.store, claim(LOCK));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(compressing, waiting);
		awaitWatch();
		assertThat(signal.toCompletableFuture()).isNotDone();
		assertThat(answer(compressing.find(LOCK)).holders()).hasSize(1);
		released(this.store, holder);
		awaitSignal(signal);
		released(compressing, granted(compressing, waiting));
	}

	private void awaitWatch() {
		Awaitility.await("a watch")
			.atMost(BOUND)
			.until(() -> server.ask("wchp").contains(this.bench.waitQueues().get(0) + "/"));
	}

	@Slow
	@Test
	void clientWithANamespaceSharesLocksWithOneThatNamesThePath() throws Exception {
		CuratorFramework namespaced = this.bench.client(builder().namespace("app"));
		ZooKeeperLockOptions options = new ZooKeeperLockOptions("/locks", this.bench.root().substring(10),
				WhenSuspended.WAIT);
		ZooKeeperLockBackend inside = this.bench.store(namespaced, options);
		ZooKeeperLockBackend outside = this.bench.store(this.client,
				new ZooKeeperLockOptions("/app/locks", options.namespace(), WhenSuspended.WAIT));
		inside.verify();
		Grant first = granted(inside, claim(LOCK));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(outside, waiting);
		assertThat(renewed(inside, first)).isInstanceOf(RenewResult.Renewed.class);
		assertThat(answer(inside.find(LOCK)).holders()).hasSize(1);
		Claim last = claim(LOCK);
		CompletionStage<?> lastSignal = refused(inside, last);
		released(inside, first);
		awaitSignal(signal);
		released(outside, granted(outside, waiting));
		awaitSignal(lastSignal);
		released(inside, granted(inside, last));
		Awaitility.await("the wait queue to go")
			.atMost(BOUND)
			.until(() -> this.bench.inspection().checkExists().forPath("/app/locks") == null);
	}

}
