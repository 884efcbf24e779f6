package io.holdfast.lock.engine;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for a thread that acquires a lock that it holds.
 */
class ReentryTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@Test
	void reentryUsesTheSameTokenAndSendsNoRequest() {
		try (LockHandle outer = this.fixture.engine.acquire(request().build())) {
			try (LockHandle inner = this.fixture.engine.acquire(request().build())) {
				assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
				assertThat(LockHandle.current()).contains(inner);
			}
			assertThat(outer.isHeld()).isTrue();
			assertThat(LockHandle.current()).contains(outer);
		}
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "release stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void closedInnerHoldLeavesNoListener() {
		try (LockHandle outer = this.fixture.engine.acquire(request().build())) {
			WeakReference<Object> listener = listenInside();
			await().untilAsserted(() -> {
				System.gc();
				assertThat(listener.get()).isNull();
			});
			assertThat(outer.isHeld()).isTrue();
		}
	}

	private WeakReference<Object> listenInside() {
		Object listener = new Object();
		try (LockHandle inner = this.fixture.engine.acquire(request().build())) {
			inner.onLost((event) -> listener.notify());
		}
		return new WeakReference<>(listener);
	}

	@Test
	void minHoldOfTheInnerHoldIsKept() {
		LockHandle outer = this.fixture.engine.acquire(request().minHold(Duration.ofSeconds(2)).build());
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.engine.acquire(request().minHold(Duration.ofSeconds(20)).build()).close();
		outer.close();
		this.fixture.time.advance(Duration.ofSeconds(19));
		assertThat(this.fixture.backend.owners).containsKey(LOCK);
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void shorterMinHoldOfTheInnerHoldKeepsTheOuters() {
		LockHandle outer = this.fixture.engine.acquire(request().minHold(Duration.ofSeconds(20)).build());
		this.fixture.engine.acquire(request().minHold(Duration.ofSeconds(1)).build()).close();
		outer.close();
		this.fixture.time.advance(Duration.ofSeconds(19));
		assertThat(this.fixture.backend.owners).containsKey(LOCK);
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void minHoldOfAFailedRequestDoesNotKeepTheLockOfTheOuterHold() {
		LockName other = LockName.of("stock", "43");
		LockHandle outer = this.fixture.engine.acquire(request().build());
		this.backend.heldByAnother(other);
		LockRequest both = LockRequest.forLocks(List.of(LOCK, other)).minHold(Duration.ofSeconds(20)).build();
		assertThat(this.fixture.engine.tryAcquire(both)).isEmpty();
		outer.close();
		assertThat(this.backend.owners).containsOnlyKeys(other);
	}

	@Test
	void minHoldOfSeveralLocksKeepsTheLockOfTheOuterHold() {
		LockName other = LockName.of("stock", "43");
		LockHandle outer = this.fixture.engine.acquire(request().build());
		LockRequest both = LockRequest.forLocks(List.of(LOCK, other)).minHold(Duration.ofSeconds(20)).build();
		this.fixture.engine.acquire(both).close();
		outer.close();
		this.time.advance(Duration.ofSeconds(19));
		assertThat(this.backend.owners).containsOnlyKeys(LOCK, other);
		this.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 45 })
	void minHoldOfTheInnerHoldOutlastsTheMaxHoldOfTheOuter(int seconds) {
		LockHandle outer = this.fixture.engine.acquire(request().maxHold(Duration.ofSeconds(40)).build());
		this.fixture.engine.acquire(request().minHold(Duration.ofMinutes(5)).build()).close();
		this.time.advance(Duration.ofSeconds(seconds));
		outer.close();
		this.time.advance(Duration.ofMinutes(4));
		assertThat(this.backend.owners).containsKey(LOCK);
		this.time.advance(Duration.ofMinutes(1));
		this.fixture.assertNothingLeft();
	}

	/** A session-bound store keeps the lock without renewals. */
	@Test
	void minHoldOfTheInnerHoldOutlastsTheLossOfTheOuter() {
		LockHandle outer = this.fixture.engine.acquire(request().maxHold(Duration.ofSeconds(40)).build());
		this.fixture.engine.acquire(request().minHold(Duration.ofMinutes(5)).build()).close();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.MAX_HOLD);
		outer.close();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.backend.owners).containsKey(LOCK);
		this.time.advance(Duration.ofMinutes(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void innerHoldThatOutlivesTheOuterKeepsTheLock() {
		LockHandle outer = this.fixture.engine.acquire(request().build());
		LockHandle inner = this.fixture.engine.acquire(request().build());
		outer.close();
		assertThat(inner.isHeld()).isTrue();
		inner.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void reentryIntoALostLockFails() {
		try (LockHandle outer = this.fixture.engine.acquire(request().renew(false).build())) {
			this.time.advance(LEASE);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.fixture.engine.acquire(request().build()));
			assertThat(outer.isHeld()).isFalse();
		}
	}

	/** Otherwise, the caller would use what it has read before it had the new lock. */
	@Test
	void readsAreSetAsideIfAHoldIsClosedDuringItsReentry() {
		LockName other = LockName.of("stock", "43");
		List<String> steps = new ArrayList<>();
		AtomicReference<LockHandle> closing = new AtomicReference<>();
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new TransactionBoundary() {
			@Override
			public SetAside setAside(List<LockName> locks) {
				steps.add("set aside for " + locks);
				return SetAside.NOTHING;
			}

			@Override
			public void beforeAcquire(LockName lock) {
				steps.add("acquire " + lock);
			}

			@Override
			public void deferRelease(DeferrableHold hold) {
				LockHandle closed = closing.getAndSet(null);
				if (closed != null) {
					closed.close();
				}
			}
		});
		try (LockHandle first = bounded.engine.acquire(request().build())) {
			LockHandle second = bounded.engine.acquire(LockRequest.forLock(other).build());
			steps.clear();
			closing.set(second);
			bounded.engine.acquire(LockRequest.forLocks(List.of(LOCK, other)).build()).close();
			assertThat(first.isHeld()).isTrue();
		}
		assertThat(steps).containsExactly("set aside for [stock:42, stock:43]", "acquire stock:43");
		bounded.assertNothingLeft();
	}

	@Test
	void sharedHoldCannotBecomeExclusive() {
		try (LockHandle shared = this.fixture.engine.acquire(request().mode(LockMode.SHARED).build())) {
			assertThat(shared.isHeld()).isTrue();
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> this.fixture.engine.acquire(request().build()))
				.withMessageContaining("cannot be upgraded to EXCLUSIVE");
		}
	}

	@Test
	void exclusiveHolderMayTakeShared() {
		try (LockHandle exclusive = this.fixture.engine.acquire(request().build());
				LockHandle shared = this.fixture.engine.acquire(request().mode(LockMode.SHARED).build())) {
			assertThat(shared.fencingToken()).isEqualTo(exclusive.fencingToken());
		}
	}

}
