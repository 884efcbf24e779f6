package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.SingleServerContract;
import io.holdfast.lock.backend.Verbs;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static org.awaitility.Awaitility.await;

class ZooKeeperLockBackendContractTests extends SingleServerContract<ZooKeeperServer> {

	/** Outlasts a pause of this process, and a silent server is noticed in two thirds. */
	private static final int SESSION_MILLIS = 8_000;

	private final CuratorFramework inspection = track(client(this.server.port()));

	private final List<CuratorFramework> clients = new ArrayList<>();

	ZooKeeperLockBackendContractTests() {
		super(ZooKeeperServer.started(), "/x-");
	}

	@Override
	protected LockBackend connect(int port) {
		long startedAt = System.nanoTime();
		CuratorFramework client = track(client(port));
		this.clients.add(client);
		return track(new ZooKeeperLockBackend(client, new ZooKeeperLockOptions("/holdfast", "test", WhenSuspended.WAIT),
				Duration.ofNanos(System.nanoTime() - startedAt)));
	}

	@Override
	protected Duration bound() {
		return Duration.ofSeconds(20);
	}

	/**
	 * A lease of a client that has just reconnected may end soon, because the leader is
	 * not yet proven to have heard from its session. A case needs more.
	 */
	@BeforeEach
	void awaitProvenSessions() {
		for (LockBackend client : List.of(backend(), secondClient())) {
			await().pollDelay(Duration.ZERO)
				.atMost(bound())
				.until(() -> lease(client), (lease) -> lease.toMillis() >= SESSION_MILLIS / 2);
		}
	}

	private static Duration lease(LockBackend client) throws Exception {
		Claim claim = Verbs.claim(LockName.of("proven"));
		AcquireResult result = Verbs.ask(client, claim);
		Verbs.answer(client.abandon(claim));
		return (result instanceof AcquireResult.Acquired acquired) ? acquired.grant().lease() : Duration.ZERO;
	}

	private static CuratorFramework client(int port) {
		return client(port, SESSION_MILLIS);
	}

	static CuratorFramework client(int port, int sessionMillis) {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString("127.0.0.1:" + port)
			.sessionTimeoutMs(sessionMillis)
			.connectionTimeoutMs(2_000)
			.retryPolicy(new RetryNTimes(2, 100))
			.build();
		client.start();
		return client;
	}

	@Override
	protected Collection<String> leftovers() throws Exception {
		List<String> left = new ArrayList<>();
		for (String queue : children(this.inspection, "/holdfast/test")) {
			left.addAll(children(this.inspection, "/holdfast/test/" + queue));
		}
		return left;
	}

	/**
	 * Returns the children of a node. A missing node has none: no lock was requested yet,
	 * or the server has just reaped an empty wait queue.
	 */
	static List<String> children(CuratorFramework client, String path) throws Exception {
		try {
			return client.getChildren().forPath(path);
		}
		catch (KeeperException.NoNodeException ex) {
			return List.of();
		}
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.RETAIN, "a node lives with the session of its client");
	}

	@Override
	protected void killSession() throws Exception {
		endSession(this.clients.get(0), this.server.connectString());
	}

	/** Ends a session with its password, as the server does when it expires. */
	static void endSession(CuratorFramework client, String connectString) throws Exception {
		ZooKeeper session = client.getZookeeperClient().getZooKeeper();
		CountDownLatch connected = new CountDownLatch(1);
		ZooKeeper twin = new ZooKeeper(connectString, SESSION_MILLIS, (event) -> connected.countDown(),
				session.getSessionId(), session.getSessionPasswd());
		connected.await(5, TimeUnit.SECONDS);
		twin.close();
	}

}
