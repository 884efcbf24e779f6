package io.holdfast.lock.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.RenewalOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Hold}, {@link Lease} and {@link Watchdog}: validity, renewal, loss and
 * release.
 */
class HoldTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@Test
	void validityIsTheLeaseLessOnePercentAndTwoMilliseconds() {
		LockHandle handle = this.fixture.acquired(request().leaseTime(Duration.ofSeconds(10)));
		assertThat(handle.remainingValidity()).isEqualTo(Duration.ofSeconds(10).minusMillis(100 + 2));
	}

	@Test
	void validityCountsFromBeforeTheRequestLeft() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request().leaseTime(Duration.ofSeconds(10)));
		this.time.advance(Duration.ofMillis(700));
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(handle.join().remainingValidity()).isEqualTo(Duration.ofSeconds(10).minusMillis(100 + 2 + 700));
	}

	@Test
	void leaseIsRenewedAtAThirdOfItsTime() {
		LockHandle handle = this.fixture.acquired(request());
		this.time.advance(Duration.ofSeconds(9));
		assertThat(this.backend.batches).isEmpty();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.backend.batches).containsExactly(1);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.backend.batches).hasSize(61);
		handle.close();
		this.fixture.assertNothingLeft();
		this.backend.batches.clear();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.batches).as("renewals after the release").isEmpty();
	}

	@Test
	void leasesThatAreDueTogetherAreRenewedInOneRequest() {
		for (int i = 0; i < 5; i++) {
			this.fixture.acquired(LockRequest.forLock(LockName.of("stock", "" + i)));
			this.time.advance(Duration.ofMillis(100));
		}
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.batches).containsExactly(5);
	}

	/** The interval of a short lease is shorter than the store's response time. */
	@Test
	void shortLeaseDoesNotEndTheWaitForTheResponseToOthers() {
		LockHandle handle = this.fixture.acquired(request());
		this.time.advance(LEASE.dividedBy(3).minusMillis(50));
		LockHandle brief = this.fixture
			.acquired(LockRequest.forLock(LockName.of("brief")).leaseTime(Duration.ofMillis(100)));
		CompletableFuture<List<RenewResult>> response = new CompletableFuture<>();
		this.backend.renewals.add((grant) -> response);
		this.time.advance(Duration.ofMillis(34));
		assertThat(this.backend.batches).containsExactly(2);
		this.time.advance(Duration.ofMillis(40));
		assertThat(this.fixture.record.renewals).contains(RenewalOutcome.INDETERMINATE);
		response.complete(List.of(new RenewResult.Renewed(Duration.ofMillis(100)), new RenewResult.Renewed(LEASE)));
		assertThat(handle.remainingValidity()).isGreaterThan(LEASE.minusSeconds(1));
		assertThat(brief.isHeld()).isTrue();
	}

	@Test
	void refusedRenewalLosesTheHoldOnceAndNotifiesAll() {
		this.backend.renewals.add((grant) -> CompletableFuture.completedFuture(List.of(new RenewResult.Refused())));
		LockHandle handle = this.fixture.acquired(request());
		List<LockLostEvent> notified = new ArrayList<>();
		handle.onLost(notified::add);
		this.time.advance(Duration.ofSeconds(10));
		assertThat(handle.isHeld()).isFalse();
		assertThat(handle.remainingValidity()).isZero();
		assertThat(notified).containsExactly(new LockLostEvent(LOCK, "fake", handle.fencingToken(), LossCause.REFUSED));
		assertThat(this.fixture.record.losses).isEqualTo(notified);
		assertThat(this.fixture.record.renewals).containsExactly(RenewalOutcome.REFUSED);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("Lock 'stock:42' was lost")
			.withMessageContaining("this holder no longer owns the lease")
			.withMessageContaining("backend fake")
			.withMessageEndingWith("Check for pauses and the store's health at this time.");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(notified).hasSize(1);
		handle.close();
		assertThat(this.backend.calls).doesNotContain("release stock:42");
	}

	@Test
	void commitThatIsRefusedIsCounted() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		((ManagedHold) handle).verify(Checkpoint.COMMIT);
		assertThat(this.fixture.record.refusedCommits).isZero();
		this.time.advance(LEASE);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
		assertThat(this.fixture.record.refusedCommits).isOne();
		handle.close();
	}

	@Test
	void listenerAddedAfterTheLossIsNotifiedAtOnce() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		this.time.advance(LEASE);
		List<LockLostEvent> notified = new ArrayList<>();
		handle.onLost(notified::add);
		assertThat(notified).extracting(LockLostEvent::cause).containsExactly(LossCause.EXPIRED);
	}

	@Test
	void listenerAddedByAListenerIsNotifiedAtOnce() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		List<String> notified = new ArrayList<>();
		handle.onLost((event) -> {
			handle.onLost((again) -> notified.add("added"));
			notified.add("first");
		});
		handle.onLost((event) -> notified.add("second"));
		this.time.advance(LEASE);
		assertThat(notified).containsExactly("added", "first", "second");
	}

	@Test
	void throwingListenerDoesNotStopTheOthers() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		List<LockLostEvent> notified = new ArrayList<>();
		handle.onLost((event) -> {
			throw new IllegalStateException("boom");
		});
		handle.onLost(notified::add);
		this.time.advance(LEASE);
		assertThat(notified).hasSize(1);
		assertThat(this.fixture.record.losses).hasSize(1);
	}

	/** Kotlin throws checked exceptions undeclared. */
	@Test
	void checkedExceptionOfAListenerDoesNotStopTheOthers() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		List<LockLostEvent> notified = new ArrayList<>();
		handle.onLost((event) -> HoldTests.<RuntimeException>throwUndeclared(new IOException("boom")));
		handle.onLost(notified::add);
		this.time.advance(LEASE);
		assertThat(notified).hasSize(1);
		handle.onLost((event) -> HoldTests.<RuntimeException>throwUndeclared(new InterruptedException()));
		assertThat(Thread.interrupted()).isTrue();
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

	@Test
	void failedRenewalIsRetriedAndKeepsTheHold() {
		this.backend.renewals.add((grant) -> {
			throw new IllegalStateException("boom");
		});
		this.backend.renewals.add((grant) -> CompletableFuture.failedFuture(new TimeoutException("lost")));
		this.backend.renewals.add((grant) -> new CompletableFuture<>());
		LockHandle handle = this.fixture.acquired(request());
		this.time.advance(Duration.ofMinutes(5));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.fixture.record.renewals).startsWith(RenewalOutcome.INDETERMINATE, RenewalOutcome.INDETERMINATE,
				RenewalOutcome.INDETERMINATE, RenewalOutcome.RENEWED);
	}

	@Test
	void holdIsLostWhenItsValidityEndsWithoutAnAnswer() {
		LockHandle handle = this.fixture.acquired(request());
		for (int i = 0; i < 100; i++) {
			this.backend.renewals.add((grant) -> new CompletableFuture<>());
		}
		this.time.advance(Duration.ofMillis(29_697));
		assertThat(handle.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.EXPIRED);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("before a renewal extended it; the last one failed: TimeoutException: No response");
		handle.close();
		assertThat(this.backend.calls).as("what may still stand is released").endsWith("release stock:42");
	}

	@Test
	void pausedHolderDetectsTheLossBeforeAnyTimerRuns() {
		LockHandle handle = this.fixture.acquired(request());
		this.time.pause(Duration.ofSeconds(31));
		assertThat(handle.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT))
			.withMessageContaining("has expired")
			.withMessageContaining("rolled back");
	}

	@Test
	void leaseThatIsNotRenewedIsLostAtItsEnd() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		this.time.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.backend.batches).isEmpty();
	}

	@Test
	void renewalStopsAtMaxHold() {
		LockHandle handle = this.fixture.acquired(request().maxHold(Duration.ofMinutes(2)));
		this.time.advance(Duration.ofMinutes(2));
		assertThat(handle.isHeld()).isTrue();
		this.time.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.MAX_HOLD);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("longer than its maxHold of 120s")
			.withMessageEndingWith("Verify it, then repeat it. Shorten the work, or increase 'maxHold'.");
	}

	@Test
	void requestWithAMaxHoldBelowTheLeaseIsRejected() {
		LockRequest below = request().maxHold(LEASE.minusSeconds(1)).build();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fixture.engine.tryAcquire(below))
			.withMessage("The request for lock 'stock:42' asks for a maxHold of 29s, but its lease is 30s "
					+ "('distributed-lock.lease-time'). maxHold only stops the renewal, so the store would still keep the "
					+ "lock for the whole lease. Set a 'leaseTime' of at most 29s beside it.");
		assertThat(this.backend.calls).isEmpty();
	}

	@Test
	void storeThatRevokesLosesTheHoldAtOnce() {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.revoked.complete(null);
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REVOKED);
	}

	@Test
	void lostHoldAdmitsTheNextLocalWaiter() {
		LockHandle stale = this.fixture.acquired(request());
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ofMinutes(5)));
		CompletableFuture<Void> revoked = this.backend.revoked;
		this.backend.revoked = new CompletableFuture<>();
		this.backend.owners.clear();
		revoked.complete(null);
		assertThat(next).isCompleted();
		stale.close();
		assertThat(next.join().isHeld()).isTrue();
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void lossDuringTheBodyFailsTheCall() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().renew(false).build(), (handle) -> {
				this.time.advance(LEASE);
				return "done";
			}))
			.withMessageContaining("may overlap with another holder's work");
	}

	@Test
	void lossAfterACheckedCommitDoesNotFailTheCall() {
		String result = this.fixture.engine.execute(request().renew(false).build(), (handle) -> {
			((ManagedHold) handle).verify(Checkpoint.COMMIT);
			this.time.advance(LEASE);
			return "committed";
		});
		assertThat(result).isEqualTo("committed");
		assertThat(this.fixture.record.losses).hasSize(1);
	}

	@Test
	void exceptionOfTheBodyWinsAndTheLockIsReleased() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().renew(false).build(), (handle) -> {
				this.time.advance(LEASE);
				throw new IllegalStateException("sold out");
			}))
			.withMessage("sold out");
		this.fixture.assertNothingLeft();
	}

	@Test
	void asynchronousBodyHoldsUntilItsStageCompletes() {
		CompletableFuture<String> body = new CompletableFuture<>();
		CompletableFuture<String> result = this.fixture.engine.executeAsync(request().build(), (handle) -> body)
			.toCompletableFuture();
		assertThat(this.backend.owners).containsKey(LOCK);
		body.complete("done");
		assertThat(result).isCompletedWithValue("done");
		this.fixture.assertNothingLeft();
	}

	@Test
	void boundaryMayRefuseAndMayDeferTheRelease() {
		List<Runnable> deferred = new ArrayList<>();
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new TransactionBoundary() {
			@Override
			public boolean defersReleases() {
				return true;
			}

			@Override
			public void deferRelease(DeferrableHold hold) {
				deferred.add(hold.deferRelease());
			}
		});
		LockHandle handle = bounded.engine.acquire(request().build());
		handle.close();
		assertThat(handle.isHeld()).as("still held until the boundary").isTrue();
		assertThat(LockHandle.current()).contains(handle);
		deferred.forEach(Runnable::run);
		assertThat(handle.isHeld()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
		bounded.assertNothingLeft();
	}

	@Test
	void shutdownRejectsNewRequestsAndEndsRunningHolds() {
		EngineFixture stopping = new EngineFixture(settings().leaseTime(LEASE).shutdownTimeout(Duration.ZERO).build(),
				TransactionBoundary.NONE);
		LockHandle running = stopping.acquired(request());
		CompletableFuture<LockHandle> waiting = stopping.acquire(request());
		stopping.engine.close();
		assertThat(waiting).isCompletedExceptionally();
		assertThat(stopping.record.outcomes).containsExactly(AcquireOutcome.ACQUIRED, AcquireOutcome.INTERRUPTED);
		assertThat(running.isHeld()).isFalse();
		assertThat(stopping.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.SHUTDOWN);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> stopping.engine.acquire(request().build()))
			.withMessageContaining("is stopping");
		stopping.assertNothingLeft();
	}

	@Test
	void manyKeysLeaveNothingBehind() {
		int keys = Boolean.getBoolean("thorough") ? 1_000_000 : 50_000;
		for (int i = 0; i < keys; i++) {
			if (i % 10_000 == 0) {
				this.backend.calls.clear();
				this.backend.claims.clear();
				this.backend.revoked = new CompletableFuture<>();
			}
			this.fixture.engine.acquire(LockRequest.of("stock", i)).close();
		}
		this.fixture.assertNothingLeft();
		assertThat(this.time.planned()).as("timers").isLessThanOrEqualTo(1);
		assertThat(LockContext.handles()).isEmpty();
	}

}
