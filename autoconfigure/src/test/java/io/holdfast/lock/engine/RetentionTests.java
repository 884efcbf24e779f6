package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for closing the engine before a {@code minHold} is over.
 */
@ExtendWith(OutputCaptureExtension.class)
class RetentionTests {

	private static final Duration MIN_HOLD = Duration.ofMinutes(10);

	private final EngineFixture fixture = withoutShutdownWait(Duration.ZERO);

	private final FakeBackend backend = this.fixture.backend;

	private static EngineFixture withoutShutdownWait(Duration lockDelay) {
		return new EngineFixture(settings().shutdownTimeout(Duration.ZERO).lockDelay(lockDelay).build(),
				TransactionBoundary.NONE);
	}

	@Test
	void storeRetainsAReleasedLockForTheRemainingTime() {
		this.fixture.acquired(request().minHold(MIN_HOLD)).close();
		this.fixture.time.advance(Duration.ofMinutes(1));
		close();
		assertRetainedFor(Duration.ofMinutes(9));
		assertThat(this.fixture.record.losses).isEmpty();
	}

	@Test
	void leaseIsShortenedToTheRestOfMinHold() {
		this.fixture.acquired(request().leaseTime(Duration.ofHours(1)).minHold(Duration.ofSeconds(5))).close();
		this.fixture.time.advance(Duration.ofSeconds(2));
		close();
		assertRetainedFor(Duration.ofSeconds(3));
	}

	@Test
	void lockOfARunningBodyIsLostAndRetained() {
		LockHandle handle = this.fixture.acquired(request().minHold(MIN_HOLD));
		close();
		assertRetainedFor(MIN_HOLD);
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.SHUTDOWN);
		handle.close();
		assertThat(this.backend.calls).doesNotContain("release stock:42");
	}

	@Test
	void lockOfARunningBodyIsRetainedForTheLockDelay() {
		assertRetainedForTheDelay(Duration.ZERO);
		assertRetainedForTheDelay(Duration.ofSeconds(5));
	}

	private static void assertRetainedForTheDelay(Duration minHold) {
		EngineFixture delaying = withoutShutdownWait(Duration.ofSeconds(20));
		delaying.acquired(request().minHold(minHold));
		delaying.engine.close();
		assertThat(delaying.backend.calls).endsWith("retain stock:42 for PT20S");
	}

	/** Closing its client would end the session, and with it the lock. */
	@Test
	void expiredLockIsRetainedForTheRestOfTheLockDelay() {
		EngineFixture delaying = withoutShutdownWait(Duration.ofSeconds(20));
		delaying.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		LockHandle handle = delaying.acquired(request().minHold(Duration.ofSeconds(5)));
		delaying.time.pause(Duration.ofSeconds(31));
		delaying.time.advance(Duration.ofSeconds(4));
		assertThat(delaying.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.EXPIRED);
		delaying.engine.close();
		assertThat(delaying.backend.calls).endsWith("retain stock:42 for PT16S");
		handle.close();
		assertThat(delaying.backend.owners).containsKey(LOCK);
	}

	@Test
	void expiredLockIsRetainedForTheRestOfItsMinHold() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		this.fixture.acquired(request().minHold(MIN_HOLD)).close();
		this.fixture.time.pause(Duration.ofSeconds(60));
		this.fixture.time.advance(Duration.ofSeconds(60));
		assertThat(this.fixture.engine.context().registry().held()).isEmpty();
		close();
		assertRetainedFor(Duration.ofMinutes(8));
	}

	@Test
	void lockThatWasReleasedAfterItsDelayIsNotRetained() {
		EngineFixture delaying = withoutShutdownWait(Duration.ofSeconds(20));
		delaying.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		delaying.acquired(request().renew(false)).close();
		delaying.acquired(request().renew(false));
		delaying.time.advance(Duration.ofMinutes(1));
		delaying.engine.close();
		assertThat(delaying.backend.calls).endsWith("release stock:42");
	}

	@Test
	void lockWhoseMinHoldIsOverIsReleased() {
		LockHandle handle = this.fixture.acquired(request().minHold(Duration.ofSeconds(5)));
		this.fixture.time.advance(Duration.ofSeconds(6));
		close();
		assertThat(this.backend.calls).endsWith("release stock:42");
		handle.close();
		this.fixture.assertNothingLeft();
	}

	/** The store has not confirmed the retention before the time was over. */
	@Test
	void releaseInsteadOfARetentionIsRetried() {
		this.fixture.acquired(request().minHold(Duration.ofSeconds(1))).close();
		this.backend.retentions.add(() -> CompletableFuture.failedFuture(new TimeoutException("away")));
		this.backend.releases.add((grant) -> CompletableFuture
			.completedFuture(new ReleaseResult.Indeterminate(new TimeoutException("away"))));
		int timers = this.fixture.time.planned();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.fixture.engine::close);
		Awaitility.await("close waits for answers").until(() -> this.fixture.time.planned() > timers);
		this.fixture.time.pause(Duration.ofSeconds(1));
		for (int i = 0; i < 10 && !closed.isDone(); i++) {
			this.fixture.time.advance(Duration.ofMillis(200));
		}
		closed.join();
		assertThat(this.backend.calls).endsWith("retain stock:42 for PT1S", "release stock:42", "release stock:42");
		assertThat(this.backend.owners).isEmpty();
	}

	/** A renewal that the store carries out later would restore the full lease. */
	@Test
	void retentionWaitsForARenewalInProgress() {
		CompletableFuture<List<RenewResult>> renewal = new CompletableFuture<>();
		this.backend.renewals.add((grant) -> renewal);
		this.fixture.acquired(request().minHold(MIN_HOLD)).close();
		this.fixture.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.calls).endsWith("renew");
		int timers = this.fixture.time.planned();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.fixture.engine::close);
		Awaitility.await("close waits for answers").until(() -> this.fixture.time.planned() > timers);
		assertThat(this.backend.calls).endsWith("renew");
		renewal.complete(List.of(new RenewResult.Renewed(Duration.ofSeconds(30))));
		closed.join();
		assertThat(this.backend.calls).endsWith("retain stock:42 for PT9M50S");
	}

	/** The answer has the same claim, and abandoning that claim would free the lock. */
	@Test
	void lateAnswerToTheAcquisitionKeepsARetainedLock() {
		CompletableFuture<AcquireResult> late = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> late);
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request().minHold(MIN_HOLD));
		this.fixture.time.advance(Duration.ofSeconds(3));
		handle.join().close();
		close();
		late.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(this.backend.calls).noneMatch((call) -> call.startsWith("abandon"));
		assertThat(this.backend.owners).containsKey(LOCK);
	}

	@Test
	void lockThatOnlyARetriedRetentionDoesNotKeepIsWarnedAbout(CapturedOutput output) {
		this.backend.retentions.add(() -> CompletableFuture.failedFuture(new TimeoutException("away")));
		this.fixture.acquired(LockRequest.forLock(LockName.of("job", "1")).minHold(MIN_HOLD)).close();
		int timers = this.fixture.time.planned();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.fixture.engine::close);
		Awaitility.await("close waits for answers").until(() -> this.fixture.time.planned() > timers);
		this.backend.retentions.add(() -> CompletableFuture.completedFuture(false));
		this.fixture.time.advance(Duration.ofSeconds(1));
		assertThat(closed).succeedsWithin(Duration.ofSeconds(10));
		assertThat(output).contains("of 1 locks had not elapsed");
	}

	@Test
	void storeWithoutRetentionIsWarnedAboutOnce(CapturedOutput output) {
		for (String key : List.of("1", "2")) {
			this.backend.retentions.add(() -> CompletableFuture.completedFuture(false));
			this.fixture.acquired(LockRequest.forLock(LockName.of("job", key)).minHold(MIN_HOLD)).close();
		}
		close();
		assertThat(output.getAll().lines().filter((line) -> line.contains("of 2 locks had not elapsed"))).hasSize(1);
	}

	private void close() {
		this.fixture.engine.close();
	}

	private void assertRetainedFor(Duration remaining) {
		assertThat(this.backend.calls).endsWith("retain stock:42 for " + remaining);
		this.fixture.time.advance(MIN_HOLD.multipliedBy(2));
		assertThat(this.backend.calls).as("no further request").endsWith("retain stock:42 for " + remaining);
		assertThat(this.backend.owners).containsKey(LOCK);
		assertThat(this.fixture.engine.context().queues().size()).as("local lines").isZero();
		assertThat(this.fixture.engine.context().watchdog().size()).as("leases watched").isZero();
		assertThat(this.fixture.engine.context().registry().held()).as("leases held").isEmpty();
	}

}
