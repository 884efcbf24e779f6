package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests ten JVMs that request several free locks at the same moment and hardly wait. Each
 * could acquire only some of its locks, and all could fail. At least one must succeed.
 */
class SeveralLocksAtOnceTests {

	private final ManualTime time = new ManualTime();

	private final FakeBackend store = new FakeBackend();

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 9, 100 })
	void someOfManyShortWaitsAcquireAllLocks(long waitMillis) {
		for (int round = 0; round < 200; round++) {
			SplittableRandom random = new SplittableRandom(round);
			List<CompletableFuture<Optional<LockHandle>>> callers = IntStream.range(0, 10)
				.mapToObj((i) -> caller(random, Duration.ofMillis(waitMillis)))
				.toList();
			this.time.advance(Duration.ofSeconds(10));
			List<LockHandle> holders = new ArrayList<>();
			callers.forEach((caller) -> caller.join().ifPresent(holders::add));
			assertThat(holders).as("round %d", round).isNotEmpty();
			holders.forEach(LockHandle::close);
			this.time.advance(Duration.ofSeconds(10));
			assertThat(this.store.owners).isEmpty();
		}
	}

	/** Requests some of five locks, in any order. */
	private CompletableFuture<Optional<LockHandle>> caller(SplittableRandom random, Duration wait) {
		LockEngine jvm = new LockEngine(
				new LockBackends(List.of(new DelayedStore(this.store, this.time, random.split())), "fake"),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, LockObserver.NONE, this.time, Runnable::run, () -> {
				});
		List<LockName> locks = random.ints(4, 0, 5).mapToObj((key) -> LockName.of("stock", "" + key)).toList();
		return jvm.tryAcquireAsync(LockRequest.forLocks(locks).waitTime(wait).build()).toCompletableFuture();
	}

	/**
	 * A store behind a network that delays one caller's requests and their answers.
	 */
	private record DelayedStore(FakeBackend store, ManualTime time, SplittableRandom random) implements LockBackend {

		private <T> CompletionStage<T> sent(Supplier<CompletionStage<T>> request) {
			CompletableFuture<T> answer = new CompletableFuture<>();
			this.time.after(delay(), () -> request.get()
				.thenAccept((result) -> this.time.after(delay(), () -> answer.complete(result))));
			return answer;
		}

		private long delay() {
			return Duration.ofMillis(1).toNanos() + this.random.nextLong(Duration.ofMillis(20).toNanos());
		}

		@Override
		public String name() {
			return this.store.name();
		}

		@Override
		public BackendCapabilities capabilities() {
			return this.store.capabilities();
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return sent(() -> this.store.tryAcquire(claim));
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return sent(() -> this.store.renew(grants));
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return sent(() -> this.store.release(grant));
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return sent(() -> this.store.abandon(claim));
		}

	}

}
