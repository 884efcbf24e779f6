package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the release of a hold: retries, unknown outcomes, and {@code minHold}.
 */
class ReleaseTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@Test
	void releaseOfALockThatWasGoneIsALoss() {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.owners.clear();
		handle.close();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
	}

	@Test
	void unansweredReleaseIsRetriedUntilTheLeaseExpires() {
		for (int i = 0; i < 3; i++) {
			this.backend.releases.add((grant) -> new CompletableFuture<>());
		}
		this.fixture.acquired(request()).close();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.calls.stream().filter("release stock:42"::equals)).hasSize(4);
		this.fixture.assertNothingLeft();
		assertThat(this.fixture.record.losses).isEmpty();
	}

	@Test
	void releaseOfUnknownOutcomeFollowedByNotHeldIsNoLoss() {
		this.backend.releases.add((grant) -> {
			this.backend.free(grant.claim());
			return CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(new TimeoutException("lost")));
		});
		this.fixture.acquired(request()).close();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.fixture.record.losses).isEmpty();
	}

	@Test
	void closingTwiceReleasesOnce() {
		LockHandle handle = this.fixture.acquired(request());
		handle.close();
		handle.close();
		assertThat(this.backend.calls).containsOnlyOnce("release stock:42");
	}

	@Test
	void workAfterAnEarlyReleaseMayTakeLongerThanTheLease() {
		String result = this.fixture.engine.execute(request().leaseTime(LEASE).build(), (handle) -> {
			handle.close();
			this.time.advance(LEASE.multipliedBy(2));
			return "done";
		});
		assertThat(result).isEqualTo("done");
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> later = this.fixture.engine
			.executeAsync(request().leaseTime(LEASE).build(), (handle) -> {
				handle.close();
				return work;
			})
			.toCompletableFuture();
		this.time.advance(LEASE.multipliedBy(2));
		work.complete("done");
		assertThat(later).isCompletedWithValue("done");
		this.fixture.assertNothingLeft();
	}

	@Test
	void earlyReleaseOfALockThatWasGoneFailsTheCall() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().build(), (handle) -> {
				this.backend.owners.clear();
				handle.close();
				return "done";
			}));
	}

	/** The store may respond to the release only after the call has returned. */
	@Test
	void earlyReleaseAfterTheEndOfTheLeaseFailsTheCall() {
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().leaseTime(LEASE).build(), (handle) -> {
				this.time.pause(LEASE.multipliedBy(2));
				handle.close();
				return "done";
			}))
			.withMessageContaining("has expired");
	}

	@Test
	void minHoldKeepsTheLockClosedAfterItsRelease() {
		LockHandle handle = this.fixture.acquired(request().minHold(Duration.ofSeconds(60)));
		this.time.advance(Duration.ofSeconds(1));
		handle.close();
		assertThat(this.fixture.record.holds).containsExactly(Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(58));
		assertThat(this.backend.owners).isNotEmpty();
		assertThat(this.backend.batches).as("renewals in the meantime").hasSizeGreaterThan(3);
		this.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void minHoldBeyondALeaseThatIsNotRenewedIsRejected() {
		LockRequest beyond = request().renew(false).minHold(LEASE.plusSeconds(1)).build();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fixture.engine.tryAcquire(beyond))
			.withMessage("The request for lock 'stock:42' asks for a minHold of 31s, but its lease is 30s "
					+ "('distributed-lock.lease-time') and is not renewed. The lock would be free when the lease expires. "
					+ "Set a 'leaseTime' of at least 31s beside it, or let it be renewed.");
		assertThat(this.backend.calls).isEmpty();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> beyond.toBuilder().leaseTime(LEASE).build())
			.withMessage("The minHold of lock 'stock:42' is 31s, but its leaseTime is 30s and is not renewed. "
					+ "The lock would be free when the lease expires. Set leaseTime to at least 31s, or let it be renewed.");
	}

	@Test
	void minHoldAsLongAsALeaseThatIsNotRenewedIsKept() {
		LockHandle handle = this.fixture.acquired(request().renew(false).minHold(LEASE));
		handle.close();
		this.time.advance(LEASE.minusMillis(1));
		assertThat(this.backend.owners).isNotEmpty();
		this.time.advance(Duration.ofMillis(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void handleMayBeClosedByAnotherThread() throws InterruptedException {
		LockHandle handle = this.fixture.engine.acquire(request().build());
		Thread other = new Thread(handle::close);
		other.start();
		other.join();
		assertThat(LockContext.handles()).isEmpty();
		this.fixture.assertNothingLeft();
	}

	@Test
	void lateAwaitedReleaseFailsTheCall() {
		EngineFixture awaiting = new EngineFixture(settings().leaseTime(LEASE).awaitRelease(true).build(),
				TransactionBoundary.NONE);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> awaiting.engine.execute(request().build(), (handle) -> {
				awaiting.backend.owners.clear();
				return "done";
			}));
	}

	@Test
	void shutdownKeepsLocksWithinTheirMinHold() {
		LockHandle handle = this.fixture.acquired(request().minHold(Duration.ofSeconds(20)));
		handle.close();
		this.fixture.engine.close();
		assertThat(this.backend.owners).containsKey(LOCK);
		assertThat(this.fixture.record.losses).isEmpty();
	}

}
