package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.etcd.jetcd.Client;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines at one etcd server. The leases are so long that a
 * lock changes its engine only on demand.
 */
class EtcdStickyTests extends OneEtcdServer {

	private static final Duration LONG = Duration.ofHours(1);

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final Instance one = new Instance("http://127.0.0.1:" + this.wire.port(), LONG);

	private final Instance other = new Instance(server.endpoint(), Duration.ZERO);

	/** Starts the sessions, whose requests do not count. */
	@BeforeEach
	void connect() {
		for (Instance instance : List.of(this.one, this.other)) {
			instance.engine.acquire(request(LockName.of("first"), Duration.ZERO).fair(true).build()).close();
			awaitNoLock();
			instance.calls.sent();
		}
	}

	@AfterEach
	void close() {
		this.one.close();
		this.other.close();
		this.wire.close();
	}

	private static void awaitNoLock() {
		Awaitility.await().atMost(BOUND).until(() -> keys("locks/").isEmpty());
	}

	private static LockRequest.Builder request(LockName lock, Duration waitTime) {
		return LockRequest.forLock(lock).waitTime(waitTime).leaseTime(LONG);
	}

	private static LockRequest request(Duration waitTime) {
		return request(LOCK, waitTime).build();
	}

	/** The holder's requests are the claim, the watch of its wait queue, the release. */
	@Test
	void threeRequestsServeManyPairs() {
		assertThat(this.one.requestsOfPairs(1_000)).isEqualTo(3);
	}

	@Test
	void eachPairTakesTwoRequestsByDefault() {
		assertThat(this.other.requestsOfPairs(50)).isEqualTo(100);
	}

	/** Both instances read once more if their watch may have missed an event. */
	@Test
	void waiterGetsAnIdleLeaseAfterItsHolderHasReleasedIt() {
		FencingToken first = this.one.token();
		FencingToken before = this.one.token();
		assertThat(before).as("token of a hold that took the lease over").isGreaterThan(first);
		this.one.calls.sent();
		assertThat(this.other.token()).isGreaterThan(before);
		awaitNoLock();
		assertThat(this.one.calls.sent()).as("release").isBetween(1, 2);
		assertThat(this.other.calls.sent()).as("claim, watch, position, release").isBetween(4, 5);
		assertThat(this.one.token()).isGreaterThan(before);
	}

	@Test
	void callerThatDoesNotWaitGetsAnIdleLease() {
		this.one.token();
		Awaitility.await().atMost(BOUND).until(() -> {
			Optional<LockHandle> handle = this.other.engine.tryAcquire(request(Duration.ZERO));
			handle.ifPresent(LockHandle::close);
			return handle.isPresent();
		});
	}

	@Test
	void demandDuringAHoldEndsTheLeaseWithThatHold() {
		try (LockHandle held = this.one.engine.acquire(request(Duration.ZERO))) {
			assertThat(this.other.engine.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		awaitNoLock();
	}

	@Test
	void idleLeaseIsNotTakenOverAfterAForcedReleaseThroughAnotherInstance() {
		FencingToken before = this.one.token();
		inspector(this.other).forceRelease(LOCK);
		try (LockHandle next = this.other.engine.acquire(request(Duration.ZERO))) {
			assertThat(next.fencingToken()).isGreaterThan(before);
			Awaitility.await().atMost(BOUND).until(() -> inspector(this.one).held().isEmpty());
			assertThat(this.one.engine.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(next.isHeld()).isTrue();
		}
	}

	@Test
	void forcedReleaseThroughAnotherInstanceIsNoticedDuringAHold() {
		LockHandle held = this.one.engine.acquire(request(Duration.ZERO));
		inspector(this.other).forceRelease(LOCK);
		Awaitility.await().atMost(BOUND).until(() -> !held.isHeld());
		held.close();
	}

	private static EngineInspector inspector(Instance instance) {
		return new EngineInspector(instance.engine, new LockBackends(List.of(instance.backend), EtcdLockBackend.NAME),
				(event) -> {
				});
	}

	@Test
	void demandReachesAnInstanceThatHasConnectedAgain() {
		this.one.token();
		this.wire.cut();
		assertThat(this.other.token()).isNotNull();
	}

	@Test
	void leaseOfASilentInstanceEndsWithItsSession() {
		this.one.engine.acquire(request(LOCK, Duration.ZERO).leaseTime(Duration.ofSeconds(2)).build()).close();
		this.wire.stall();
		assertThat(this.other.token()).isNotNull();
		this.wire.flow();
	}

	@Test
	void closedEngineLeavesNoIdleLease() throws Exception {
		this.one.token();
		this.one.engine.close();
		assertThat(keys("locks/")).isEmpty();
	}

	/** An engine with a client of its own, whose requests are counted. */
	private static final class Instance implements AutoCloseable {

		private final FaultyCalls calls = new FaultyCalls();

		private final EtcdLockBackend backend;

		private final LockEngine engine;

		Instance(String endpoint, Duration sticky) {
			this.backend = new EtcdLockBackend(Client.builder().endpoints(endpoint).interceptor(this.calls), NAMESPACE,
					Duration.ofSeconds(5));
			this.engine = new LockEngine(new LockBackends(List.of(this.backend), EtcdLockBackend.NAME),
					settings().sticky(sticky).build(), TransactionBoundary.NONE, List.of());
		}

		FencingToken token() {
			return this.engine.execute(request(Duration.ofSeconds(30)), LockHandle::fencingToken);
		}

		/** Counts the requests, including the last release, which the engine awaits. */
		int requestsOfPairs(int pairs) {
			for (int i = 0; i < pairs; i++) {
				token();
			}
			this.engine.close();
			return this.calls.sent();
		}

		@Override
		public void close() {
			this.engine.close();
			this.backend.close();
		}

	}

}
