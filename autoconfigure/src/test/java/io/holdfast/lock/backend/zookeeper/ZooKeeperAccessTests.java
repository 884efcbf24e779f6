package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.TestingCluster;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ZooKeeperLockBackend} at a ZooKeeper that denies what locks need.
 */
class ZooKeeperAccessTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final LockName OTHER = LockName.of("stock", "43");

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	@AutoClose
	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	private final CuratorFramework inspection = this.bench.inspection();

	private static CuratorFrameworkFactory.Builder plain(String chroot) {
		return ZooKeeperBench.builder(server.connectString() + chroot, 10_000, new RetryNTimes(1, 100));
	}

	private ZooKeeperLockBackend store(CuratorFrameworkFactory.Builder client, String basePath) {
		return this.bench.store(this.bench.client(client),
				new ZooKeeperLockOptions(basePath, "shop", WhenSuspended.WAIT));
	}

	@Test
	void checkLeavesNothingAndNeedsNoLock() throws Exception {
		ZooKeeperLockBackend store = store(plain(""), "/free");
		store.verify();
		assertThat(answer(store.status()).state()).isEqualTo(StoreStatus.State.AVAILABLE);
		// the server removes the empty parent some time later
		assertThat(ZooKeeperLockBackendContractTests.children(this.inspection, "/free/shop/access")).isEmpty();
	}

	@Test
	void missingNodeOfTheConnectStringIsReported() throws Exception {
		assertRejected(store(plain("/missing"), "/holdfast"), "/holdfast/shop", "(NONODE)", "connect string");
	}

	@Test
	void pathWithoutTheRightToCreateIsReported() throws Exception {
		this.inspection.create().withACL(Ids.READ_ACL_UNSAFE).forPath("/closed");
		assertRejected(store(plain(""), "/closed"), "/closed/shop", "(NOAUTH)", "to create, read and delete");
	}

	@Test
	void namespaceWithoutTheRightToCreateIsReported() throws Exception {
		this.inspection.create().forPath("/half");
		this.inspection.create().withACL(Ids.READ_ACL_UNSAFE).forPath("/half/shop");
		assertRejected(store(plain(""), "/half"), "/half/shop", "(NOAUTH)", "to create, read and delete");
	}

	@Test
	void ephemeralPathIsReported() throws Exception {
		this.inspection.create().withMode(CreateMode.EPHEMERAL).forPath("/brief");
		assertRejected(store(plain(""), "/brief"), "/brief/shop", "is ephemeral",
				"distributed-lock.zookeeper.base-path");
	}

	@Test
	void clientThatOwnsNodesWithoutAuthorizationIsReported() throws Exception {
		assertRejected(store(plain("").aclProvider(new CreatorOnly()), "/unknown"), "/unknown/shop", "(INVALIDACL)",
				"Authorize");
	}

	@Slow
	@Test
	void ensembleWhoseSessionsOwnNoNodesIsReported() throws Exception {
		try (TestingCluster ensemble = ZooKeeperEnsemble.withoutProxies(Map.of("localSessionsEnabled", "true"));
				ZooKeeperBench members = new ZooKeeperBench(ensemble.getConnectString())) {
			ZooKeeperLockBackend store = members.store(members.client(ensemble.getConnectString(), 10_000));
			Awaitility.await("a connection").atMost(BOUND).until(() -> !isSilent(store));
			assertRejected(store, "localSessionsUpgradingEnabled");
		}
	}

	@Slow
	@Test
	void ensembleThatUpgradesLocalSessionsGrantsLocks() throws Exception {
		Map<String, Object> settings = Map.of("localSessionsEnabled", "true", "localSessionsUpgradingEnabled", "true");
		try (TestingCluster ensemble = ZooKeeperEnsemble.withoutProxies(settings);
				ZooKeeperBench members = new ZooKeeperBench(ensemble.getConnectString())) {
			ZooKeeperLockBackend store = members.store(members.client(ensemble.getConnectString(), 10_000));
			Grant grant = soonGranted(store, claim(LOCK));
			soonRenewed(store, grant);
			soonReleased(store, grant);
		}
	}

	private static boolean isSilent(ZooKeeperLockBackend store) {
		try {
			store.verify();
			return false;
		}
		catch (LockBackendException ex) {
			return ex.getMessage().contains("did not respond");
		}
		catch (LockConfigurationException ex) {
			return false;
		}
	}

	private static void assertRejected(ZooKeeperLockBackend store, String... message) throws Exception {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
			.withMessageContainingAll(message);
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> answer(store.status()))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContainingAll(message);
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> ask(store, claim(LOCK)))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContainingAll("stock:42", "backend zookeeper")
			.withMessageContainingAll(message);
	}

	@Test
	void accessControlOfTheClientIsHonored() throws Exception {
		ZooKeeperLockBackend ours = store(
				plain("").authorization("digest", "shop:secret".getBytes()).aclProvider(new CreatorOnly()), "/guarded");
		Grant grant = granted(ours, claim(LOCK));
		ZooKeeperLockBackend strangers = store(plain(""), "/guarded");
		assertRejected(strangers, "/guarded/shop");
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> answer(strangers.find(LOCK)))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContainingAll("stock:42", "backend zookeeper", "/guarded/shop");
		released(ours, grant);
	}

	@Test
	void refusedReleaseAndWithdrawalHaveAKnownOutcome() throws Exception {
		ZooKeeperLockBackend store = store(plain(""), "/kept");
		Grant grant = granted(store, claim(LOCK));
		String queue = "/kept/shop/" + this.inspection.getChildren().forPath("/kept/shop").get(0);
		this.inspection.setACL()
			.withACL(List.of(new ACL(Perms.ALL & ~Perms.DELETE, Ids.ANYONE_ID_UNSAFE)))
			.forPath(queue);
		for (CompletionStage<?> request : List.of(store.release(grant), store.abandon(grant.claim()))) {
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> answer(request))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContainingAll("stock:42", "backend zookeeper", "/kept/shop");
		}
		this.inspection.setACL().withACL(Ids.OPEN_ACL_UNSAFE).forPath(queue);
		released(store, grant);
	}

	/** The claim has created its node before it is rejected. */
	@Test
	void claimThatMayNotReadItsQueueLeavesNothing() throws Exception {
		ZooKeeperLockBackend store = store(plain(""), "/secret");
		Grant grant = granted(store, claim(LOCK));
		String queue = "/secret/shop/" + this.inspection.getChildren().forPath("/secret/shop").get(0);
		this.inspection.setACL()
			.withACL(List.of(new ACL(Perms.ALL & ~Perms.READ, Ids.ANYONE_ID_UNSAFE)))
			.forPath(queue);
		LockEngine engine = this.bench.engine(store);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> engine.acquire(LockRequest.forLock(LOCK).waitTime(Duration.ofSeconds(1)).build()))
			.withMessageContaining("(NOAUTH)");
		assertThat(this.inspection.checkExists().forPath(queue).getNumChildren()).as("the holder's").isOne();
		assertThat(store.remembered()).as("the holder's").isOne();
		released(store, grant);
	}

	@Test
	void rejectedClaimLeavesNothingInMemory() throws Exception {
		this.inspection.create().withACL(Ids.READ_ACL_UNSAFE).forPath("/denied");
		ZooKeeperLockBackend store = store(plain(""), "/denied");
		LockEngine engine = this.bench.engine(store);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> engine.acquire(LockRequest.forLock(LOCK).build()))
			.withMessageContaining("(NOAUTH)");
		assertThat(store.remembered()).isZero();
	}

	/**
	 * Applications with credentials of their own share the wait queues. Some servers do
	 * not notify the waiter of what it may not read, so it looks again after a while.
	 */
	@Test
	void waiterThatMayNotReadItsPredecessorDoesNotSpin() throws Exception {
		ZooKeeperLockBackend ours = storeWithOwnNodes("ours:secret");
		ZooKeeperLockBackend theirs = storeWithOwnNodes("theirs:secret");
		Grant holder = granted(ours, claim(LOCK));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(theirs, waiting);
		assertThat(answer(theirs.find(LOCK)).holders()).hasSize(1);
		assertThat(signal.toCompletableFuture()).isNotDone();
		released(ours, holder);
		released(theirs, granted(theirs, waiting));
	}

	/** Its calls would fail although the lock is free, and blame the holder. */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void waiterThatMayNotReadItsPredecessorIsWarnedAboutOnce(CapturedOutput output) throws Exception {
		ZooKeeperLockBackend ours = storeWithOwnNodes("ours:secret");
		ZooKeeperLockBackend theirs = storeWithOwnNodes("theirs:secret");
		granted(ours, claim(LOCK));
		refused(theirs, claim(LOCK));
		Awaitility.await("the warning").atMost(BOUND).until(() -> output.getAll().contains("(NOAUTH)"));
		granted(ours, claim(OTHER));
		refused(theirs, claim(OTHER));
		assertThat(theirs.find(LOCK).toCompletableFuture()).as("answered after all of that").succeedsWithin(BOUND);
		assertThat(output.getAll()).containsOnlyOnce("(NOAUTH)")
			.contains("Lock 'stock:42' (backend zookeeper)", "after up to 5s", "'waitTime'", "ACLProvider");
	}

	private ZooKeeperLockBackend storeWithOwnNodes(String credentials) {
		return store(plain("").authorization("digest", credentials.getBytes()).aclProvider(new OwnNodes()), "/shared");
	}

	/** Restricts access to the nodes of claims to their creator. */
	private static final class OwnNodes implements ACLProvider {

		@Override
		public List<ACL> getDefaultAcl() {
			return Ids.OPEN_ACL_UNSAFE;
		}

		@Override
		public List<ACL> getAclForPath(String path) {
			return path.contains("/x-") ? Ids.CREATOR_ALL_ACL : Ids.OPEN_ACL_UNSAFE;
		}

	}

	/** Restricts access to a node to its creator. */
	private static final class CreatorOnly implements ACLProvider {

		@Override
		public List<ACL> getDefaultAcl() {
			return Ids.CREATOR_ALL_ACL;
		}

		@Override
		public List<ACL> getAclForPath(String path) {
			return Ids.CREATOR_ALL_ACL;
		}

	}

}
