package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import io.etcd.jetcd.Client;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.FairEngineCases;
import io.holdfast.lock.backend.StickyEngineCases;
import io.holdfast.lock.backend.StickyInstance;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.StickyInstance.LONG;
import static io.holdfast.lock.backend.StickyInstance.request;
import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines at one etcd server.
 */
class EtcdStickyTests extends OneEtcdServer implements StickyEngineCases, FairEngineCases {

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final Instance one = new Instance("http://127.0.0.1:" + this.wire.port(), LONG);

	private final Instance other = new Instance(server.endpoint(), Duration.ZERO);

	/** Starts the sessions, whose requests do not count. */
	@BeforeEach
	void connect() {
		for (Instance instance : List.of(this.one, this.other)) {
			LockRequest request = LockRequest.forLock(LockName.of("first"))
				.leaseTime(LONG)
				.waitTime(Duration.ZERO)
				.fair(true)
				.build();
			instance.instance.engine().acquire(request).close();
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

	@Override
	public StickyInstance first() {
		return this.one.instance;
	}

	@Override
	public StickyInstance second() {
		return this.other.instance;
	}

	@Override
	public Collection<?> left() throws Exception {
		return keys("locks/");
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
		FencingToken first = first().token();
		FencingToken before = first().token();
		assertThat(before).as("token of a hold that took the lease over").isGreaterThan(first);
		this.one.calls.sent();
		assertThat(second().token()).isGreaterThan(before);
		awaitNoLock();
		assertThat(this.one.calls.sent()).as("release").isBetween(1, 2);
		assertThat(this.other.calls.sent()).as("claim, watch, position, release").isBetween(4, 5);
		assertThat(first().token()).isGreaterThan(before);
	}

	@Test
	void forcedReleaseThroughAnotherInstanceIsNoticedDuringAHold() {
		LockHandle held = first().engine().acquire(request(Duration.ZERO));
		second().inspector().forceRelease(LOCK);
		Awaitility.await().atMost(BOUND).until(() -> !held.isHeld());
		held.close();
	}

	@Test
	void demandReachesAnInstanceThatHasConnectedAgain() {
		first().token();
		this.wire.cut();
		assertThat(second().token()).isNotNull();
	}

	@Slow
	@Test
	void leaseOfASilentInstanceEndsWithItsSession() {
		LockRequest request = LockRequest.forLock(LOCK)
			.waitTime(Duration.ZERO)
			.leaseTime(Duration.ofSeconds(2))
			.build();
		first().engine().acquire(request).close();
		this.wire.stall();
		assertThat(second().token()).isNotNull();
		this.wire.flow();
	}

	/** An engine with a client of its own, whose requests are counted. */
	private static final class Instance implements AutoCloseable {

		private final FaultyCalls calls = new FaultyCalls();

		private final StickyInstance instance;

		Instance(String endpoint, Duration sticky) {
			this.instance = StickyInstance
				.of(new EtcdLockBackend(Client.builder().endpoints(endpoint).interceptor(this.calls),
						new EtcdLockOptions(NAMESPACE, Duration.ofSeconds(5))), sticky);
		}

		/** Counts the requests, including the last release, which the engine awaits. */
		int requestsOfPairs(int pairs) {
			for (int i = 0; i < pairs; i++) {
				this.instance.token();
			}
			this.instance.engine().close();
			return this.calls.sent();
		}

		@Override
		public void close() {
			this.instance.engine().close();
			((EtcdLockBackend) this.instance.backend()).close();
		}

	}

}
