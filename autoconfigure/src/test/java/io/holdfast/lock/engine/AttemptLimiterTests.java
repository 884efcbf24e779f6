package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AttemptLimiter}.
 */
class AttemptLimiterTests {

	private static final int LIMIT = AttemptLimiter.LIMIT;

	private static final AcquireResult ANSWER = AcquireResult.Contended.polled(Duration.ofSeconds(1));

	private final AttemptLimiter limiter = new AttemptLimiter();

	private final List<CompletableFuture<AcquireResult>> sent = new ArrayList<>();

	private final EngineFixture fixture = new EngineFixture();

	@Test
	void attemptsBeyondTheLimitAreSentInOrderAsOthersAreAnswered() {
		List<CompletableFuture<AcquireResult>> answers = IntStream.range(0, LIMIT + 3)
			.mapToObj((i) -> new CompletableFuture<AcquireResult>())
			.toList();
		answers.forEach(this::send);
		assertThat(this.sent).isEqualTo(answers.subList(0, LIMIT));
		answers.get(7).complete(ANSWER);
		assertThat(this.sent).isEqualTo(answers.subList(0, LIMIT + 1));
		answers.get(LIMIT).complete(ANSWER);
		answers.get(0).completeExceptionally(new IllegalStateException("failed"));
		assertThat(this.sent).isEqualTo(answers);
	}

	@Test
	void withdrawnSentAttemptFreesItsSlotOnce() {
		List<StoreRequest> requests = fill();
		CompletableFuture<AcquireResult> unanswered = this.sent.get(0);
		CompletableFuture<AcquireResult> next = new CompletableFuture<>();
		send(next);
		send(new CompletableFuture<>());
		assertThat(requests.get(0).withdraw()).isFalse();
		assertThat(this.sent).hasSize(LIMIT + 1).endsWith(next);
		unanswered.complete(ANSWER);
		assertThat(requests.get(0)).isCompletedWithValue(ANSWER);
		assertThat(this.sent).hasSize(LIMIT + 1);
	}

	@Test
	void withdrawnUnsentAttemptIsNotSentAndTakesNoSlot() {
		fill();
		StoreRequest withdrawn = send(new CompletableFuture<>());
		CompletableFuture<AcquireResult> next = new CompletableFuture<>();
		send(next);
		assertThat(withdrawn.withdraw()).isTrue();
		this.sent.get(0).complete(ANSWER);
		assertThat(this.sent).hasSize(LIMIT + 1).endsWith(next);
		this.sent.get(1).complete(ANSWER);
		send(new CompletableFuture<>());
		assertThat(this.sent).hasSize(LIMIT + 2);
	}

	/** A limiter that sent them recursively would overflow the stack. */
	@Test
	void thousandsOfAttemptsMayBeAnsweredAtOnce() {
		fill();
		for (int i = 0; i < 100_000; i++) {
			send(CompletableFuture.completedFuture(ANSWER));
		}
		this.sent.get(0).complete(ANSWER);
		assertThat(this.sent).hasSize(LIMIT + 100_000);
	}

	@Test
	void threadsNeverExceedTheLimitAndLeakNoSlot() throws InterruptedException {
		AtomicInteger inFlight = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		CountDownLatch answered = new CountDownLatch(20_000);
		ExecutorService store = Executors.newFixedThreadPool(4);
		ExecutorService callers = Executors.newFixedThreadPool(4);
		for (int i = 0; i < 20_000; i++) {
			callers.execute(() -> this.limiter.send(request(() -> {
				most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
				return CompletableFuture.runAsync(inFlight::decrementAndGet, store)
					.thenRun(answered::countDown)
					.thenApply((done) -> ANSWER);
			})));
		}
		assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
		callers.shutdown();
		assertThat(callers.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		store.shutdown();
		assertThat(store.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
		fill();
		assertThat(this.sent).hasSize(LIMIT);
	}

	@Test
	void releaseDoesNotWaitBehindAttempts() {
		LockHandle held = this.fixture.acquired(EngineFixture.request());
		burst(LIMIT + 10);
		assertThat(this.fixture.backend.claims).hasSize(1 + LIMIT);
		held.close();
		assertThat(this.fixture.backend.calls).endsWith("release stock:42");
	}

	@Test
	void unsentAttemptNeedsNoWithdrawal() {
		List<CompletableFuture<LockHandle>> calls = burst(LIMIT + 1);
		calls.get(LIMIT).cancel(true);
		assertThat(this.fixture.backend.called("abandon burst:" + LIMIT)).isFalse();
		calls.subList(0, LIMIT).forEach((call) -> call.cancel(true));
		assertThat(this.fixture.backend.claims).hasSize(LIMIT);
		assertThat(this.fixture.backend.called("abandon burst:0")).isTrue();
		this.fixture.assertNothingLeft();
	}

	@Test
	void unsentLastAttemptStillReportsThatTheLockIsHeld() {
		this.fixture.backend.owners.put(EngineFixture.LOCK, OwnerId.random());
		this.fixture.backend.retryAfter = Duration.ofMillis(100);
		CompletableFuture<LockHandle> call = this.fixture
			.acquire(EngineFixture.request().waitTime(Duration.ofMillis(500)));
		burst(LIMIT);
		this.fixture.time.advance(Duration.ofMillis(500));
		assertThat(this.fixture.backend.claims).hasSize(1 + LIMIT);
		assertThat(call).failsWithin(Duration.ZERO)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockNotAcquiredException.class);
	}

	/**
	 * Starts callers that request different locks without waiting. The store does not
	 * answer them.
	 */
	private List<CompletableFuture<LockHandle>> burst(int callers) {
		return IntStream.range(0, callers).mapToObj((i) -> {
			this.fixture.backend.acquires.add((claim) -> new CompletableFuture<AcquireResult>());
			return this.fixture.acquire(LockRequest.forLock(LockName.of("burst", i)).waitTime(Duration.ZERO));
		}).toList();
	}

	private List<StoreRequest> fill() {
		return IntStream.range(0, LIMIT).mapToObj((i) -> send(new CompletableFuture<>())).toList();
	}

	private StoreRequest send(CompletableFuture<AcquireResult> answer) {
		StoreRequest request = request(() -> {
			this.sent.add(answer);
			return answer;
		});
		this.limiter.send(request);
		return request;
	}

	private StoreRequest request(Supplier<CompletionStage<AcquireResult>> call) {
		return new StoreRequest(this.fixture.time.nanos()) {

			@Override
			long now() {
				return AttemptLimiterTests.this.fixture.time.nanos();
			}

			@Override
			CompletionStage<AcquireResult> call() {
				return call.get();
			}

		};
	}

}
