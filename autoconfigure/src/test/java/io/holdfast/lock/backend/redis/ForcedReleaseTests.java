package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests an operator who takes a lock away from another instance.
 */
class ForcedReleaseTests extends OneRedisServer {

	private final Queue<LockForceReleasedEvent> events = new ConcurrentLinkedQueue<>();

	private static LockBackends backends(RedisLockBackend backend) {
		return new LockBackends(List.of(backend), "redis");
	}

	private static LockEngine engine(LockBackends backends) {
		return new LockEngine(backends, settings().responseTimeout(BOUND).build(), TransactionBoundary.NONE, List.of());
	}

	/** A listener that ends the application waits for the threads of its client. */
	@Test
	void listenerOfALossRunsOnNoThreadOfTheClient() {
		try (LockEngine engine = engine(backends(first))) {
			LockHandle lost = engine.acquire(LockRequest.forLock(this.lock).leaseTime(Duration.ofSeconds(2)).build());
			CompletableFuture<Thread> listener = new CompletableFuture<>();
			lost.onLost((event) -> listener.complete(Thread.currentThread()));
			server.ask("del", key("lock"));
			assertThat(listener).succeedsWithin(BOUND).matches((thread) -> !first.answersOn(thread));
			lost.close();
		}
	}

	@Test
	void holderInAnotherInstanceLosesTheLockAndTheNextTokenIsGreater() {
		LockBackends here = backends(second);
		try (LockEngine elsewhere = engine(backends(first)); LockEngine engine = engine(here)) {
			EngineInspector inspector = new EngineInspector(engine, here, this.events::add);
			LockHandle evicted = elsewhere
				.acquire(LockRequest.forLock(this.lock).leaseTime(Duration.ofSeconds(2)).build());
			Queue<LockLostEvent> losses = new ConcurrentLinkedQueue<>();
			evicted.onLost(losses::add);
			assertThat(inspector.held()).isEmpty();
			List<LockState.Holder> holders = inspector.forceRelease(this.lock);
			assertThat(holders).extracting(LockState.Holder::ownerId).containsExactly(evicted.ownerId());
			assertThat(this.events).containsExactly(new LockForceReleasedEvent(this.lock, "redis", holders, List.of()));
			try (LockHandle next = engine.acquire(LockRequest.forLock(this.lock).build())) {
				assertThat(next.fencingToken()).isGreaterThan(evicted.fencingToken());
				assertThat(inspector.held()).extracting(HeldLock::ownerId).containsExactly(next.ownerId());
				Awaitility.await().atMost(BOUND).until(() -> !losses.isEmpty());
				assertThat(losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
				assertThat(evicted.isHeld()).isFalse();
				evicted.close();
				assertThat(next.isHeld()).isTrue();
			}
		}
	}

	@Test
	void lockOfADeadInstanceIsReleased() throws Exception {
		LockBackends here = backends(second);
		TestRedis.get(first.tryAcquire(claim(Duration.ZERO)));
		try (LockEngine engine = engine(here)) {
			EngineInspector inspector = new EngineInspector(engine, here, this.events::add);
			assertThat(inspector.find(this.lock).holders()).singleElement()
				.satisfies((holder) -> assertThat(holder.remainingLease()).isPositive());
			inspector.forceRelease(this.lock);
			assertThat(inspector.find(this.lock).isHeld()).isFalse();
			engine.acquire(LockRequest.forLock(this.lock).waitTime(Duration.ZERO).build()).close();
		}
	}

}
