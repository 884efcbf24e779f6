package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

import org.apache.curator.framework.CuratorFramework;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a hold while its connection is suspended, and afterwards.
 */
class ZooKeeperSuspensionTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final int SHORT_SESSION = 2_000;

	private static final int LONG_SESSION = 20_000;

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	@AfterEach
	void closeAll() throws Exception {
		this.wire.flow();
		this.bench.close();
		this.wire.close();
	}

	private CuratorFramework client(int sessionMillis) {
		return this.bench.client("127.0.0.1:" + this.wire.port(), sessionMillis);
	}

	/**
	 * Breaks the connection, prevents a new one, and waits until the backend has noticed.
	 */
	private void suspend(ZooKeeperLockBackend store, Grant any) {
		this.wire.stall();
		this.wire.cut();
		Awaitility.await("the suspension").atMost(BOUND).until(() -> {
			CompletableFuture<Boolean> answer = store.confirm(any).toCompletableFuture();
			return !answer.isDone() || answer.isCompletedExceptionally();
		});
	}

	private static CompletableFuture<Void> waiting(Runnable check) {
		CompletableFuture<Void> checked = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				check.run();
				checked.complete(null);
			}
			catch (RuntimeException ex) {
				checked.completeExceptionally(ex);
			}
		});
		thread.start();
		Awaitility.await("a waiting thread").atMost(BOUND).until(() -> thread.getState() == Thread.State.WAITING);
		return checked;
	}

	@Slow
	@Test
	void commitWaitsUntilTheServerHasConfirmedTheLock() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION));
		try (LockHandle handle = this.bench.engine(store).acquire(LockRequest.of("stock", 42))) {
			Grant other = granted(store, claim(LockName.of("stock", "43")));
			suspend(store, other);
			CompletableFuture<Void> commit = waiting(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
			this.wire.flow();
			assertThat(commit).succeedsWithin(BOUND);
			soonReleased(store, other);
		}
	}

	@Slow
	@Test
	void statusShowsTheSuspensionAndWhatTheSessionStillGuarantees() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION));
		Grant any = granted(store, claim(LOCK));
		assertThat(answer(store.status())).satisfies((status) -> {
			assertThat(status.state()).isEqualTo(StoreStatus.State.AVAILABLE);
			assertThat(status.details()).containsEntry("connection", "connected")
				.containsEntry("sessionTimeout", "20s")
				.containsKey("validity");
		});
		suspend(store, any);
		assertThat(answer(store.status())).satisfies((status) -> {
			assertThat(status.state()).isEqualTo(StoreStatus.State.UNAVAILABLE);
			assertThat(status.details()).containsEntry("connection", "suspended");
		});
		this.wire.flow();
		soonReleased(store, any);
	}

	@Slow
	@Test
	void waitEndsInALossWhenTheSessionEnds() throws Exception {
		CuratorFramework client = client(LONG_SESSION);
		ZooKeeperLockBackend store = this.bench.store(client);
		LockEngine engine = this.bench.engine(store);
		try (LockHandle handle = engine.acquire(LockRequest.of("stock", 42))) {
			suspend(store, granted(store, claim(LockName.of("stock", "43"))));
			CompletableFuture<Void> commit = waiting(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
			ZooKeeperLockBackendContractTests.endSession(client, server.connectString());
			this.wire.flow();
			assertLost(commit);
			assertThat(handle.isHeld()).isFalse();
		}
	}

	@Slow
	@Test
	void lostLockIsNotReacquiredUnlessRequested() throws Exception {
		CuratorFramework client = client(LONG_SESSION);
		ZooKeeperLockBackend store = this.bench.store(client);
		LockEngine engine = this.bench.engine(store);
		try (LockHandle lost = engine.acquire(LockRequest.of("stock", 42))) {
			ZooKeeperLockBackendContractTests.endSession(client, server.connectString());
			Awaitility.await().atMost(BOUND).until(() -> !lost.isHeld());
			Grant probe = Awaitility.await()
				.atMost(BOUND)
				.ignoreException(AssertionError.class)
				.until(() -> granted(store, claim(LockName.of("stock", "43"))), (grant) -> true);
			assertThat(this.bench.nodes()).as("the new session has no node but the one asked for").hasSize(1);
			assertThat(lost.isHeld()).isFalse();
			soonReleased(store, probe);
			try (LockHandle reacquired = CompletableFuture
				.supplyAsync(() -> engine.acquire(LockRequest.of("stock", 42)))
				.get()) {
				assertThat(reacquired.fencingToken()).isGreaterThan(lost.fencingToken());
			}
		}
	}

	@Slow
	@Test
	void waitEndsInALossWhenTheValidityDoes() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(SHORT_SESSION));
		try (LockHandle handle = this.bench.engine(store).acquire(LockRequest.of("stock", 42))) {
			suspend(store, granted(store, claim(LockName.of("stock", "43"))));
			assertLost(CompletableFuture.runAsync(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT)));
		}
	}

	private static void assertLost(CompletableFuture<Void> commit) {
		assertThat(commit).failsWithin(BOUND)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class)
			.withMessageContaining("The commit was refused");
	}

	@Slow
	@Test
	void failFastCommitFailsAtOnceAndKeepsTheLock() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION), WhenSuspended.FAIL);
		try (LockHandle handle = this.bench.engine(store).acquire(LockRequest.of("stock", 42))) {
			Grant other = granted(store, claim(LockName.of("stock", "43")));
			suspend(store, other);
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT))
				.withMessageContainingAll("Lock 'stock:42' is in doubt", "is suspended", "The commit was refused");
			assertThat(handle.isHeld()).isTrue();
			this.wire.flow();
			Awaitility.await()
				.atMost(BOUND)
				.ignoreException(LockBackendException.class)
				.untilAsserted(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
			soonReleased(store, other);
		}
	}

	@Slow
	@Test
	void nodeDeletedDuringTheSuspensionIsNotConfirmed() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION));
		Grant grant = granted(store, claim(LOCK));
		suspend(store, grant);
		CompletionStage<Boolean> confirmation = store.confirm(grant);
		this.bench.inspection().delete().forPath(this.bench.nodes().get(0));
		this.wire.flow();
		assertThat(answer(confirmation)).isFalse();
		assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Refused.class);
	}

	@Slow
	@Test
	void breakShorterThanTheSessionLosesNoHoldAndNoPosition() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION));
		Grant grant = granted(store, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(store, waiting);
		List<String> before = this.bench.nodes();
		suspend(store, grant);
		assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Indeterminate.class);
		assertThat(ask(store, waiting)).isInstanceOf(AcquireResult.Indeterminate.class);
		this.wire.flow();
		soonRenewed(store, grant);
		assertThat(grant.revoked().toCompletableFuture()).isNotDone();
		soonReleased(store, grant);
		soonReleased(store, soonGranted(store, waiting));
		assertThat(before).hasSize(2);
		assertThat(this.bench.nodes()).isEmpty();
	}

	@Slow
	@Test
	void holdIsConfirmedOnceAfterEachBreak() throws Exception {
		ZooKeeperLockBackend store = this.bench.store(client(LONG_SESSION));
		Grant grant = granted(store, claim(LOCK));
		assertThat(store.confirm(grant) == ZooKeeperLockBackend.CERTAIN).as("certain without a request").isTrue();
		suspend(store, grant);
		this.wire.flow();
		assertThat(answer(store.confirm(grant))).isTrue();
		assertThat(store.confirm(grant) == ZooKeeperLockBackend.CERTAIN).as("certain without a request").isTrue();
		soonReleased(store, grant);
	}

}
