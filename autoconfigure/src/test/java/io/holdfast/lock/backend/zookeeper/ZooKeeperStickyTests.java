package io.holdfast.lock.backend.zookeeper;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.apache.curator.framework.CuratorFramework;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.FairEngineCases;
import io.holdfast.lock.backend.StickyEngineCases;
import io.holdfast.lock.backend.StickyInstance;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.StickyInstance.LONG;
import static io.holdfast.lock.backend.StickyInstance.request;
import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests sticky leases of two engines at one ZooKeeper server.
 */
class ZooKeeperStickyTests implements StickyEngineCases, FairEngineCases {

	/** Longer than a test waits, so a lock that changes its engine was released. */
	private static final int LONG_SESSION = 60_000;

	private static final Set<String> COUNTED = Set.of("create", "children", "stat", "watch", "delete");

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.started();

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final ZooKeeperBench bench = new ZooKeeperBench(server.connectString());

	private final Queue<String> sent = new ConcurrentLinkedQueue<>();

	private StickyInstance first;

	private StickyInstance second;

	/** Connects both clients, whose first requests do not count. */
	@BeforeEach
	void connect() {
		this.first = instance(LONG_SESSION, LONG);
		CuratorFramework client = this.bench.client(server.connectString(), LONG_SESSION);
		this.second = StickyInstance.of(this.bench.store(client), Duration.ZERO);
		connect(this.second);
	}

	private StickyInstance instance(int sessionMillis, Duration sticky) {
		CuratorFramework client = this.bench.client("127.0.0.1:" + this.wire.port(), sessionMillis);
		StickyInstance instance = StickyInstance.of(this.bench.store(client, counted(new CuratorCalls(client))),
				sticky);
		connect(instance);
		this.sent.clear();
		return instance;
	}

	private void connect(StickyInstance instance) {
		LockRequest request = LockRequest.forLock(LockName.of("first")).waitTime(BOUND).fair(true).build();
		instance.engine().acquire(request).close();
		awaitNoLock();
	}

	private ZooKeeperCalls counted(ZooKeeperCalls calls) {
		return (ZooKeeperCalls) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { ZooKeeperCalls.class }, (proxy, method, arguments) -> {
					if (COUNTED.contains(method.getName())) {
						this.sent.add(method.getName());
					}
					try {
						return method.invoke(calls, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		this.wire.flow();
		this.first.engine().close();
		this.second.engine().close();
		awaitNoLock();
		this.bench.close();
		this.wire.close();
	}

	@Override
	public StickyInstance first() {
		return this.first;
	}

	@Override
	public StickyInstance second() {
		return this.second;
	}

	@Override
	public Collection<?> left() throws Exception {
		return this.bench.nodes();
	}

	/** The wait queue is read twice if the first claim has to create it. */
	@Test
	void aConstantNumberOfRequestsServesManyPairs() {
		for (int i = 0; i < 1_000; i++) {
			this.first.token();
		}
		this.first.engine().close();
		assertThat(this.sent).containsOnlyOnce("create", "delete").hasSizeBetween(3, 4);
	}

	@Test
	void waiterGetsAnIdleLeaseAfterItsHolderHasReleasedIt() {
		FencingToken before = this.first.token();
		FencingToken takenOver = this.first.token();
		assertThat(takenOver).isGreaterThan(before);
		FencingToken next = this.second.token();
		assertThat(next).isGreaterThan(takenOver);
		assertThat(this.first.token()).isGreaterThan(next);
	}

	@Test
	void anIdleLeaseHasOneWatchAndLeavesNone() throws Exception {
		int before = watches();
		for (int round = 0; round < 20; round++) {
			this.first.token();
			assertThat(watches()).isEqualTo(before + 1);
			this.second.token();
			awaitNoLock();
		}
		assertThat(watches()).isEqualTo(before);
	}

	/** Counts those of data and those of children. */
	private static int watches() throws IOException {
		return Integer.parseInt(server.ask("mntr").replaceAll("(?s).*zk_watch_count\\s+(\\d+).*", "$1"));
	}

	@Slow
	@Test
	void demandDuringAnInterruptionArrivesAfterIt() {
		FencingToken before = this.first.token();
		this.wire.stall();
		this.wire.cut();
		CompletableFuture<FencingToken> waiting = CompletableFuture.supplyAsync(this.second::token);
		Awaitility.await().atMost(BOUND).until(() -> left().size() == 2);
		this.wire.flow();
		assertThat(waiting).succeedsWithin(BOUND).satisfies((next) -> assertThat(next).isGreaterThan(before));
	}

	@Slow
	@Test
	void leaseOfASilentInstanceEndsWithItsSession() {
		this.first.engine().close();
		this.first = instance(2_000, LONG);
		FencingToken before = this.first.token();
		this.wire.stall();
		assertThat(this.second.token()).isGreaterThan(before);
	}

	/** The client cannot know that another one has deleted the node meanwhile. */
	@Slow
	@Test
	void leaseTakenOverDuringAnInterruptionIsConfirmedBeforeACommit() throws Exception {
		this.first.token();
		this.wire.stall();
		this.wire.cut();
		Awaitility.await()
			.ignoreExceptions()
			.atMost(BOUND)
			.until(() -> "suspended"
				.equals(this.first.backend().status().toCompletableFuture().get().details().get("connection")));
		this.bench.inspection().delete().forPath(this.bench.nodes().get(0));
		LockHandle held = this.first.engine().acquire(request(Duration.ZERO));
		CompletableFuture<Void> check = CompletableFuture.runAsync(held::assertHeld);
		this.wire.flow();
		assertThat(check).failsWithin(BOUND).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::assertHeld);
		held.close();
	}

}
