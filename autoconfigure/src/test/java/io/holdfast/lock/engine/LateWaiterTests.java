package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a waiter whose process pauses before, across or beyond its deadline. Whatever
 * is due when the process resumes, the claim is granted or abandoned exactly once. After
 * that, the store receives no further attempt.
 */
class LateWaiterTests {

	private static final Duration WAIT = Duration.ofSeconds(8);

	private static final Duration PAUSE = Duration.ofSeconds(10);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@Test
	void waiterThatWakesAfterItsDeadlineMakesNoFurtherAttempt() {
		this.backend.retryAfter = Duration.ofSeconds(5);
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.pause(PAUSE);
		this.backend.owners.clear();
		this.time.advance(Duration.ofSeconds(5));
		assertTimedOut(waiting);
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "abandon stock:42");
		assertNothingLeft();
	}

	@Test
	void signalThatIsDueTogetherWithTheTimerLeadsToNoAttempt() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.pause(PAUSE);
		this.backend.freedByAnother(LOCK);
		this.time.advance(Duration.ofSeconds(5));
		assertTimedOut(waiting);
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "abandon stock:42");
		assertNothingLeft();
	}

	@Test
	void handoverAfterTheDeadlineLeadsToNoAttempt() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> waiting = waiting();
		this.backend.calls.clear();
		this.time.pause(PAUSE);
		first.close();
		this.time.advance(Duration.ofSeconds(5));
		assertTimedOut(waiting);
		assertThat(this.backend.calls).containsExactly("release stock:42");
		assertNothingLeft();
	}

	@Test
	void refusalThatArrivesAfterTheDeadlineAbandonsAtOnce() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.pause(PAUSE);
		answer.complete(new AcquireResult.Contended(this.backend.signal, Duration.ofSeconds(1)));
		assertTimedOut(waiting);
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "abandon stock:42");
		this.time.advance(Duration.ofSeconds(5));
		assertNothingLeft();
	}

	/** Nothing is decided yet, the caller still waits, and the lease is valid. */
	@Test
	void grantThatArrivesAfterTheDeadlineButBeforeTheTimerCounts() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		AcquireResult grant = this.backend.answer(this.backend.claims.get(0));
		this.time.pause(PAUSE);
		answer.complete(grant);
		this.time.advance(Duration.ZERO);
		assertThat(waiting).isCompleted();
		assertThat(waiting.join().remainingValidity()).isLessThan(Duration.ofSeconds(20));
		assertThat(this.backend.calls).containsExactly("acquire stock:42");
		waiting.join().close();
		assertNothingLeft();
	}

	@Test
	void grantThatArrivesAfterTheTimerIsWithdrawn() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.pause(PAUSE);
		this.time.advance(Duration.ZERO);
		assertThat(waiting).isCompletedExceptionally();
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "abandon stock:42");
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(this.backend.calls).endsWith("abandon stock:42", "abandon stock:42");
		assertNothingLeft();
	}

	/**
	 * A position that the store keeps for the claim would block the waiters behind it.
	 */
	@Test
	void refusalThatArrivesAfterTheTimerIsWithdrawn() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.pause(PAUSE);
		this.time.advance(Duration.ZERO);
		this.backend.calls.clear();
		answer.complete(new AcquireResult.Contended(this.backend.signal, Duration.ofSeconds(1)));
		assertThat(waiting).isCompletedExceptionally();
		assertThat(this.backend.calls).containsExactly("abandon stock:42");
	}

	@Test
	void answerToAnEarlierAttemptKeepsTheLeaseOfALaterOne() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(waiting).isCompleted();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(this.backend.calls).doesNotContain("abandon stock:42");
		assertThat(waiting.join().isHeld()).isTrue();
		waiting.join().close();
		assertNothingLeft();
	}

	@Test
	void lateAnswerDoesNotShortenTheMinHold() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(request().waitTime(WAIT).minHold(Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(2));
		waiting.join().close();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		this.time.advance(Duration.ofSeconds(18));
		assertThat(this.backend.calls).doesNotContain("abandon stock:42");
		assertThat(this.backend.owners).containsKey(LOCK);
		this.time.advance(Duration.ofSeconds(3));
		assertNothingLeft();
	}

	@Test
	void attemptExecutedAfterTheReleaseIsWithdrawn() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.advance(Duration.ofSeconds(2));
		waiting.join().close();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertNothingLeft();
	}

	/** On another connection, a withdrawal could overtake the release. */
	@Test
	void lateAnswerDuringTheReleaseIsNoLoss() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<ReleaseResult> released = releasedAfterALateGrant();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		released.complete(this.backend.free(this.backend.claims.get(0)));
		assertThat(this.fixture.record.losses).isEmpty();
		assertThat(this.backend.calls).endsWith("release stock:42", "abandon stock:42");
		assertNothingLeft();
	}

	@Test
	void lateAttemptIsWithdrawnThoughTheReleaseGetsNoResponse() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		releasedAfterALateGrant();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.backend.calls).contains("abandon stock:42");
		assertNothingLeft();
	}

	/** Releases a lock that the second attempt was granted, without a response. */
	private CompletableFuture<ReleaseResult> releasedAfterALateGrant() {
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.advance(Duration.ofSeconds(2));
		CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
		this.backend.releases.add((grant) -> released);
		waiting.join().close();
		return released;
	}

	@Test
	void attemptExecutedAfterARefusedRenewalIsWithdrawn() {
		CompletableFuture<AcquireResult> answer = nextAnswerIsLate();
		CompletableFuture<LockHandle> waiting = waiting();
		this.time.advance(Duration.ofSeconds(2));
		this.backend.owners.clear();
		this.backend.renewals.add((grant) -> CompletableFuture.completedFuture(List.of(new RenewResult.Refused())));
		this.time.advance(Duration.ofSeconds(12));
		assertThat(waiting.join().isHeld()).isFalse();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		waiting.join().close();
		assertThat(this.backend.calls).doesNotContain("release stock:42").endsWith("abandon stock:42");
		assertNothingLeft();
	}

	@Test
	void attemptExecutedAfterARevocationWithoutHoldIsWithdrawn() {
		EngineFixture sticky = new EngineFixture(settings().sticky(WAIT).build(), TransactionBoundary.NONE);
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		sticky.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> waiting = sticky.acquire(request().waitTime(WAIT));
		sticky.time.advance(Duration.ofSeconds(2));
		waiting.join().close();
		sticky.time.advance(Duration.ofMillis(200));
		sticky.backend.owners.clear();
		sticky.backend.revoked.complete(null);
		answer.complete(sticky.backend.answer(sticky.backend.claims.get(0)));
		sticky.assertNothingLeft();
	}

	/**
	 * Combines any pause with any order of the events that may be due after it: the
	 * store's signal, the answer to an attempt, the timers.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8 })
	void claimIsGrantedOrAbandonedInEveryOrder(long seed) {
		for (int i = 0; i < 500; i++) {
			SplittableRandom random = new SplittableRandom(seed * 1_000 + i);
			LateWaiterTests round = new LateWaiterTests();
			List<String> history = round.run(random);
			assertThat(round.backend.faults).as("seed %d, round %d: %s", seed, i, history).isEmpty();
			round.assertNothingLeft();
		}
	}

	private List<String> run(SplittableRandom random) {
		List<String> history = new ArrayList<>();
		List<Runnable> answers = new ArrayList<>();
		this.backend.retryAfter = Duration.ofMillis(1 + random.nextInt(6_000));
		for (int i = 0; i < 20; i++) {
			if (random.nextInt(3) > 0) {
				this.backend.acquires.add((claim) -> late(claim, answers));
			}
			else {
				this.backend.acquires.add((claim) -> {
					sent(claim);
					return CompletableFuture.completedFuture(this.backend.answer(claim));
				});
			}
		}
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = waiting();
		for (int step = 0; step < 12; step++) {
			step(random, answers, history);
		}
		this.backend.freedByAnother(LOCK);
		answers.forEach(Runnable::run);
		this.time.advance(WAIT.plusSeconds(2));
		answers.forEach(Runnable::run);
		assertThat(waiting).isDone();
		if (!waiting.isCompletedExceptionally()) {
			waiting.join().close();
		}
		answers.forEach(Runnable::run);
		this.time.advance(Duration.ofSeconds(5));
		return history;
	}

	private void step(SplittableRandom random, List<Runnable> answers, List<String> history) {
		int what = random.nextInt(5);
		Duration length = Duration.ofMillis(random.nextInt(6_000));
		history.add(what + " " + length);
		switch (what) {
			case 0 -> this.time.pause(length);
			case 1 -> this.time.advance(length);
			case 2 -> this.backend.freedByAnother(LOCK);
			case 3 -> this.backend.signal.complete(null);
			default -> {
				if (!answers.isEmpty()) {
					answers.remove(random.nextInt(answers.size())).run();
				}
			}
		}
	}

	private void sent(Claim claim) {
		if (this.time.nanos() >= WAIT.toNanos()) {
			this.backend.faults.add("sent after the deadline: " + claim);
		}
	}

	/** Sends an attempt that the store carries out when it answers. */
	private CompletableFuture<AcquireResult> late(Claim claim, List<Runnable> answers) {
		sent(claim);
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		answers.add(() -> {
			if (!answer.isDone()) {
				answer.complete(this.backend.answer(claim));
			}
		});
		return answer;
	}

	private CompletableFuture<LockHandle> waiting() {
		return this.fixture.acquire(request().waitTime(WAIT));
	}

	private CompletableFuture<AcquireResult> nextAnswerIsLate() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		return answer;
	}

	private void assertTimedOut(CompletableFuture<LockHandle> waiting) {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join)
			.withCauseInstanceOf(LockNotAcquiredException.class);
		assertThat(this.fixture.record.outcomes).endsWith(AcquireOutcome.TIMEOUT);
	}

	private void assertNothingLeft() {
		this.fixture.assertNothingLeft();
		assertThat(this.backend.faults).isEmpty();
	}

}
