package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients, backends and engines of one test, and the nodes that they have left in the
 * tree.
 */
final class ZooKeeperBench implements AutoCloseable {

	private final List<AutoCloseable> opened = new ArrayList<>();

	/**
	 * A unique namespace, because sessions of an earlier test, and with them their locks,
	 * may live for a while.
	 */
	private final String namespace = "shop-" + UUID.randomUUID();

	private final CuratorFramework inspection;

	/** The start time of each client, in nanoseconds. */
	private final Map<CuratorFramework, Long> startedAt = new IdentityHashMap<>();

	ZooKeeperBench(String connectString) {
		this.inspection = client(connectString, 10_000);
	}

	CuratorFramework client(String connectString, int sessionMillis) {
		return client(connectString, sessionMillis, new RetryNTimes(1, 100));
	}

	CuratorFramework client(String connectString, int sessionMillis, RetryPolicy retries) {
		return client(builder(connectString, sessionMillis, retries));
	}

	static CuratorFrameworkFactory.Builder builder(String connectString, int sessionMillis, RetryPolicy retries) {
		return CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs(sessionMillis)
			.connectionTimeoutMs(1_000)
			.retryPolicy(retries)
			// else it moves to other members than those of the connect string
			.ensembleTracker(false);
	}

	CuratorFramework client(CuratorFrameworkFactory.Builder builder) {
		CuratorFramework client = builder.build();
		this.startedAt.put(client, System.nanoTime());
		client.start();
		awaitConnection(client);
		return opened(client);
	}

	/** Otherwise the first request fails if the connection takes a second. */
	private static void awaitConnection(CuratorFramework client) {
		try {
			assertThat(client.blockUntilConnected(Math.toIntExact(BOUND.toSeconds()), TimeUnit.SECONDS))
				.as("the connection")
				.isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	ZooKeeperLockBackend store(CuratorFramework client, WhenSuspended whenSuspended) {
		return store(client, new ZooKeeperLockOptions("/holdfast", this.namespace, whenSuspended));
	}

	ZooKeeperLockBackend store(CuratorFramework client, ZooKeeperLockOptions options) {
		return opened(new ZooKeeperLockBackend(client, options, age(client)));
	}

	/** Returns a backend that sends its requests through the given calls. */
	ZooKeeperLockBackend store(CuratorFramework client, ZooKeeperCalls calls) {
		SystemSchedulingClock time = new SystemSchedulingClock("holdfast-test");
		return opened(new ZooKeeperLockBackend(calls,
				new ZooKeeperLockOptions("/holdfast", this.namespace, WhenSuspended.WAIT), time, age(client),
				time::close));
	}

	/** Returns a backend that sends no requests on its own. */
	ZooKeeperLockBackend storeWithoutHeartbeats(CuratorFramework client) {
		SystemSchedulingClock time = new SystemSchedulingClock("holdfast-test");
		SchedulingClock untimed = new SchedulingClock() {

			@Override
			public long nanos() {
				return time.nanos();
			}

			@Override
			public Runnable after(long delayNanos, Runnable task) {
				return () -> {
				};
			}

		};
		return opened(new ZooKeeperLockBackend(new CuratorCalls(client),
				new ZooKeeperLockOptions("/holdfast", this.namespace, WhenSuspended.WAIT), untimed, age(client),
				time::close));
	}

	private Duration age(CuratorFramework client) {
		return Duration.ofNanos(System.nanoTime() - this.startedAt.get(client));
	}

	ZooKeeperLockBackend store(CuratorFramework client) {
		return store(client, WhenSuspended.WAIT);
	}

	LockEngine engine(ZooKeeperLockBackend store, LockObserver... observers) {
		return opened(new LockEngine(new LockBackends(List.of(store), "zookeeper"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of(observers)));
	}

	private <T extends AutoCloseable> T opened(T resource) {
		this.opened.add(resource);
		return resource;
	}

	/** Returns a client whose session has nothing to do with any lock. */
	CuratorFramework inspection() {
		return this.inspection;
	}

	/** Returns the path of the node that contains the wait queues. */
	String root() {
		return "/holdfast/" + this.namespace;
	}

	/** Returns the paths of the wait queues of locks. */
	List<String> waitQueues() throws Exception {
		return ZooKeeperLockBackendContractTests.children(this.inspection, root())
			.stream()
			.map((queue) -> root() + "/" + queue)
			.toList();
	}

	/** Returns the paths of the nodes of claims. */
	List<String> nodes() throws Exception {
		List<String> nodes = new ArrayList<>();
		for (String queue : waitQueues()) {
			for (String node : ZooKeeperLockBackendContractTests.children(this.inspection, queue)) {
				nodes.add(queue + "/" + node);
			}
		}
		return nodes;
	}

	@Override
	public void close() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

}
