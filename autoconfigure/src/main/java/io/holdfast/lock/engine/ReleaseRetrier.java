package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Releases leases and withdraws claims at the store. A request that the store has not
 * confirmed is sent again for as long as it may have left something there: until the
 * lease has ended, or, where the store keeps it with a session of the client, until this
 * engine closes.
 */
final class ReleaseRetrier {

	private static final Log logger = LogFactory.getLog(ReleaseRetrier.class);

	private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(500);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final Executor threads;

	private final Set<CompletableFuture<?>> underWay = ConcurrentHashMap.newKeySet();

	private final Map<LockBackend, Retries> retries = new ConcurrentHashMap<>();

	/** Locks that a store did not keep for the rest of their {@code minHold}. */
	private final Queue<LockName> notRetained = new ConcurrentLinkedQueue<>();

	/**
	 * Create the cleanup.
	 * @param threads send the requests to stores that block
	 */
	ReleaseRetrier(SchedulingClock time, EngineSettings settings, Executor threads) {
		this.time = time;
		this.responseTimeout = settings.responseTimeout().toNanos();
		this.threads = threads;
	}

	/**
	 * Release a lease.
	 * @param leaseEnds when it has ended by itself, on the engine's clock
	 * @param quiet completes when nothing that was sent before is under way any more
	 * @return the first answer, or the failure to get one; what follows is this class's
	 * affair
	 */
	CompletableFuture<ReleaseResult> release(LockBackend backend, Grant grant, long leaseEnds,
			CompletableFuture<?> quiet) {
		return new Request<>(backend, grant.claim().lock(), "release", leaseEnds, () -> backend.release(grant),
				(answer) -> !(answer instanceof ReleaseResult.Indeterminate))
			.start(quiet);
	}

	/**
	 * Have a lock kept for a while without this JVM, or released if that is over by then.
	 * @param remaining how long from the time of asking
	 */
	void retain(LockBackend backend, Grant grant, long leaseEnds, CompletableFuture<?> quiet,
			Supplier<Duration> remaining) {
		new Request<>(backend, grant.claim().lock(), "retention", leaseEnds, () -> {
			Duration left = remaining.get();
			return (left.compareTo(Duration.ZERO) > 0) ? backend.retain(grant, left)
					: backend.release(grant).thenApply((answer) -> true);
		}, Objects::nonNull).start(quiet).thenAccept((kept) -> {
			if (!kept) {
				this.notRetained.add(grant.claim().lock());
			}
		});
	}

	/**
	 * Withdraw a claim.
	 * @param leaseEnds when whatever it may have got has ended by itself, on the engine's
	 * clock
	 * @return the first answer, or the failure to get one
	 */
	CompletableFuture<Void> abandon(LockBackend backend, Claim claim, long leaseEnds) {
		return new Request<>(backend, claim.lock(), "withdrawal", leaseEnds, () -> backend.abandon(claim),
				(answer) -> true)
			.start(CompletableFuture.completedFuture(null));
	}

	/**
	 * Waits until every request has had its first answer, but no longer than a request
	 * after a renewal under way may take. A store that blocks may take longer than that,
	 * for example while a connection pool waits for its database.
	 */
	void awaitAnswers() {
		CompletableFuture<?>[] answers = this.underWay.toArray(CompletableFuture[]::new);
		CompletableFuture<?> all = CompletableFuture.allOf(answers).handle((done, failure) -> null);
		Runnable cancel = this.time.after(2 * this.responseTimeout + GRACE, () -> {
			if (all.complete(null)) {
				logger.warn(
						"At shutdown %s releases were not confirmed by their store in time. What is left there ends with its lease."
							.formatted(Stream.of(answers).filter((answer) -> !answer.isDone()).count()));
			}
		});
		all.join();
		cancel.run();
		warnOfNotRetained();
	}

	private void warnOfNotRetained() {
		if (!this.notRetained.isEmpty()) {
			logger.warn(
					"At shutdown the minHold of %s locks was not over, and their store does not keep them without this application: another instance may acquire them as soon as its client is closed. The first of them is '%s'. Keep such locks in another store."
						.formatted(this.notRetained.size(), this.notRetained.peek()));
		}
	}

	/** Repeat nothing any more. */
	void close() {
		this.retries.values().forEach(Retries::close);
	}

	/**
	 * One request to a store.
	 */
	private final class Request<T> extends Retries.Request {

		private final LockBackend backend;

		private final LockName lock;

		private final String what;

		private final long deadline;

		private final Supplier<CompletionStage<T>> question;

		private final Predicate<T> settled;

		private final CompletableFuture<T> firstAnswer = new CompletableFuture<>();

		Request(LockBackend backend, LockName lock, String what, long leaseEnds, Supplier<CompletionStage<T>> question,
				Predicate<T> settled) {
			this.backend = backend;
			this.lock = lock;
			this.what = what;
			this.deadline = backend.capabilities().sessionBound() ? Long.MAX_VALUE : leaseEnds;
			this.question = question;
			this.settled = settled;
		}

		CompletableFuture<T> start(CompletableFuture<?> quiet) {
			ReleaseRetrier.this.underWay.add(this.firstAnswer);
			this.firstAnswer.whenComplete((answer, failure) -> ReleaseRetrier.this.underWay.remove(this.firstAnswer));
			quiet.thenRun(this::sendAgain);
			return this.firstAnswer;
		}

		/** Not to block the caller, whose connection this may need, nor the timer. */
		@Override
		void sendAgain() {
			if (this.backend.capabilities().blocking()) {
				ReleaseRetrier.this.threads.execute(this::send);
			}
			else {
				send();
			}
		}

		private void send() {
			Stages.within(this.question, ReleaseRetrier.this.responseTimeout, ReleaseRetrier.this.time).whenComplete(this::answered);
		}

		private void answered(T answer, Throwable failure) {
			boolean confirmed = failure == null && this.settled.test(answer);
			Object unconfirmed = (failure != null) ? failure : answer;
			if (this.firstAnswer.isDone()) {
				retries().answered(this, confirmed ? null : unconfirmed);
				return;
			}
			if (!confirmed) {
				retries().add(this, unconfirmed);
			}
			if (failure != null) {
				this.firstAnswer.completeExceptionally(failure);
			}
			else {
				this.firstAnswer.complete(answer);
			}
		}

		private Retries retries() {
			return ReleaseRetrier.this.retries.computeIfAbsent(this.backend,
					(store) -> new Retries(store.name(), ReleaseRetrier.this.time));
		}

		@Override
		long deadline() {
			return this.deadline;
		}

		/** What a store keeps by itself for a lease is not worth an operator's notice. */
		@Override
		boolean isRefused(Object answer) {
			return answer instanceof LockBackendException && this.backend.capabilities().sessionBound();
		}

		@Override
		public String toString() {
			return "%s of lock '%s'".formatted(this.what, this.lock);
		}

	}

}
