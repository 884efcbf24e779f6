package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Ends leases and withdraws claims at the store, and does not let go before the store
 * knows of it: what was not answered is sent again, until the lease has ended by itself.
 */
final class Cleanup {

	private static final Log logger = LogFactory.getLog(Cleanup.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

	/**
	 * How many errands are repeated at a time, so that a store that is down is not
	 * overrun when it is back.
	 */
	private static final int MOST_REPEATED = 1_000;

	private final AtomicInteger repeated = new AtomicInteger();

	private final SchedulingClock time;

	private final Duration responseTimeout;

	private final Executor workers;

	private final Set<CompletableFuture<?>> underWay = ConcurrentHashMap.newKeySet();

	Cleanup(SchedulingClock time, Duration responseTimeout, Executor workers) {
		this.time = time;
		this.responseTimeout = responseTimeout;
		this.workers = workers;
	}

	/**
	 * End a lease.
	 * @param deadline when it has ended by itself, on the engine's clock
	 * @param quiet completes when nothing that was sent before is under way any more
	 * @return the first answer, or the failure to get one; what follows is this class's
	 * affair
	 */
	CompletableFuture<ReleaseResult> release(LockBackend backend, Grant grant, long deadline,
			CompletableFuture<?> quiet) {
		return new Errand<>(backend, grant.claim().lock(), "release", deadline, () -> backend.release(grant),
				(answer) -> !(answer instanceof ReleaseResult.Indeterminate))
			.start(quiet);
	}

	/**
	 * Withdraw a claim.
	 * @param deadline when whatever it may have got has ended by itself, on the engine's
	 * clock
	 * @return the first answer, or the failure to get one
	 */
	CompletableFuture<Void> abandon(LockBackend backend, Claim claim, long deadline) {
		return new Errand<>(backend, claim.lock(), "withdrawal", deadline, () -> backend.abandon(claim),
				(answer) -> true)
			.start(CompletableFuture.completedFuture(null));
	}

	/**
	 * Wait until every errand has had its first answer.
	 */
	void awaitAnswers() {
		// each of them ends by its own time-out
		CompletableFuture.allOf(this.underWay.toArray(CompletableFuture[]::new)).handle((done, failure) -> null).join();
	}

	/**
	 * One thing to be told to the store.
	 */
	private final class Errand<T> {

		private final LockBackend backend;

		private final LockName lock;

		private final String what;

		private final long deadline;

		private final Supplier<CompletionStage<T>> request;

		private final Predicate<T> settled;

		private final CompletableFuture<T> firstAnswer = new CompletableFuture<>();

		private long pause = FIRST_PAUSE.toNanos();

		Errand(LockBackend backend, LockName lock, String what, long deadline, Supplier<CompletionStage<T>> request,
				Predicate<T> settled) {
			this.backend = backend;
			this.lock = lock;
			this.what = what;
			this.deadline = deadline;
			this.request = request;
			this.settled = settled;
		}

		CompletableFuture<T> start(CompletableFuture<?> quiet) {
			Cleanup.this.underWay.add(this.firstAnswer);
			this.firstAnswer.whenComplete((answer, failure) -> Cleanup.this.underWay.remove(this.firstAnswer));
			quiet.thenRun(this::sendAside);
			return this.firstAnswer;
		}

		private void send() {
			Answers.within(this.request, Cleanup.this.responseTimeout.toNanos(), Cleanup.this.time)
				.whenComplete(this::answered);
		}

		private void answered(T answer, Throwable failure) {
			if (failure != null || !this.settled.test(answer)) {
				sendAgainLater((failure != null) ? failure : answer);
			}
			else if (this.firstAnswer.isDone()) {
				Cleanup.this.repeated.decrementAndGet();
			}
			if (failure != null) {
				this.firstAnswer.completeExceptionally(failure);
			}
			else {
				this.firstAnswer.complete(answer);
			}
		}

		private void sendAgainLater(Object answer) {
			boolean first = !this.firstAnswer.isDone();
			if (first && Cleanup.this.repeated.incrementAndGet() > MOST_REPEATED
					|| Cleanup.this.time.nanos() + this.pause >= this.deadline) {
				Cleanup.this.repeated.decrementAndGet();
				logger.warn(
						"The %s of lock '%s' was not confirmed by store %s (%s). What is left there ends with its lease."
							.formatted(this.what, this.lock, this.backend.name(), answer));
				return;
			}
			if (first) {
				logger.info("The %s of lock '%s' was not confirmed by store %s (%s) and is sent again."
					.formatted(this.what, this.lock, this.backend.name(), answer));
			}
			Cleanup.this.time.after(this.pause, this::sendAside);
			this.pause = Math.min(2 * this.pause, LONGEST_PAUSE.toNanos());
		}

		/** Not to block the caller, whose connection this may need, nor the timer. */
		private void sendAside() {
			if (this.backend.capabilities().blocking()) {
				Cleanup.this.workers.execute(this::send);
			}
			else {
				send();
			}
		}

	}

}
