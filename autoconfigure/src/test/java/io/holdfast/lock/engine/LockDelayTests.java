package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.RenewalOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a lock stays unavailable for a while after a loss, but not after a release.
 */
class LockDelayTests {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final Duration DELAY = Duration.ofSeconds(20);

	private final EngineFixture fixture = new EngineFixture(settings().leaseTime(LEASE).lockDelay(DELAY).build(),
			TransactionBoundary.NONE);

	private final FakeBackend backend = this.fixture.backend;

	@Test
	void storeLeaseOutlastsTheHolderLease() {
		LockHandle handle = this.fixture.acquired(request());
		assertThat(this.backend.claims.get(0).leaseTime()).isEqualTo(LEASE.plus(DELAY));
		assertThat(handle.remainingValidity()).isBetween(LEASE.minusMillis(200), LEASE);
		handle.close();
	}

	@Test
	void renewalComesAtAThirdOfTheHolderLease() {
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.time.advance(LEASE.multipliedBy(3));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.backend.batches).hasSizeBetween(8, 10);
		handle.close();
	}

	@Test
	void releasedLockIsFreeAtOnce() {
		this.fixture.acquired(request()).close();
		assertThat(this.backend.owners).isEmpty();
		this.fixture.acquired(request()).close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void lostLockStaysClosedForTheDelay() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		this.fixture.time.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		handle.close();
		assertThat(this.backend.owners).containsKey(LOCK);
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ofMinutes(1)));
		this.fixture.time.advance(DELAY.minusSeconds(1));
		assertThat(next).isNotDone();
		this.fixture.time.advance(Duration.ofSeconds(5));
		assertThat(next).isCompleted();
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void lateAnswerDoesNotShortenTheDelay() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().renew(false));
		this.fixture.time.advance(Duration.ofSeconds(2));
		LockHandle handle = waiting.join();
		this.fixture.time.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		handle.close();
		assertThat(this.backend.owners).containsKey(LOCK);
		this.fixture.time.advance(DELAY);
		this.fixture.assertNothingLeft();
	}

	/** The other lease in the same renewal keeps its full length. */
	@Test
	void renewalWithinTheDelayLosesOnlyItsOwnHold() {
		LockHandle handle = this.fixture.acquired(request());
		LockHandle other = this.fixture.acquired(LockRequest.of("stock", "other").toBuilder());
		this.backend.renewals.add((grant) -> CompletableFuture
			.completedFuture(List.of(new RenewResult.Renewed(DELAY), new RenewResult.Renewed(LEASE.plus(DELAY)))));
		this.fixture.time.advance(LEASE.dividedBy(2));
		assertThat(this.backend.batches).containsExactly(2);
		assertThat(this.fixture.record.renewals).containsExactly(RenewalOutcome.RENEWED, RenewalOutcome.RENEWED);
		assertThat(this.fixture.record.losses).singleElement()
			.satisfies((loss) -> assertThat(loss.lock()).isEqualTo(LOCK))
			.satisfies((loss) -> assertThat(loss.cause()).isEqualTo(LossCause.EXPIRED));
		assertThat(handle.isHeld()).isFalse();
		this.fixture.time.advance(LEASE.multipliedBy(3));
		assertThat(other.isHeld()).isTrue();
		handle.close();
		other.close();
		this.fixture.time.advance(DELAY);
		this.fixture.assertNothingLeft();
	}

	@Test
	void storeWhoseLeaseIsShorterThanTheDelayIsAnError() {
		this.backend.acquires
			.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Acquired(new Grant(claim, 1, DELAY))));
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request());
		assertThatExceptionOfType(Exception.class).isThrownBy(handle::join)
			.havingCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContaining("'distributed-lock.lock-delay' is 20s");
		assertThat(this.backend.calls).contains("abandon stock:42");
	}

}
