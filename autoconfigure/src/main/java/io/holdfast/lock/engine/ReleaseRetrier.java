package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Releases leases and withdraws claims at the store. It retries an unconfirmed request
 * for as long as the store may hold state of it: until the lease has expired, or, with a
 * session-bound store, until this engine closes.
 */
final class ReleaseRetrier {

	private static final GuardedLog logger = GuardedLog.of(ReleaseRetrier.class);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final Executor threads;

	private final UnconfirmedRequests unconfirmed;

	private final Map<LockBackend, Retries> retries = new ConcurrentHashMap<>();

	/** Locks that a store did not keep after this engine has closed. */
	private final Queue<LockName> notRetained = new ConcurrentLinkedQueue<>();

	/**
	 * Creates a retrier.
	 * @param threads sends the requests to blocking backends
	 */
	ReleaseRetrier(SchedulingClock time, EngineSettings settings, Executor threads) {
		this.time = time;
		this.responseTimeout = settings.responseTimeout().toNanos();
		this.threads = threads;
		this.unconfirmed = new UnconfirmedRequests(time, settings.responseTimeout());
	}

	/**
	 * Releases a lease. An immediate confirmation, such as that of the store in memory,
	 * leaves nothing to retry.
	 * @param quiet completes when no earlier request for the lease is in progress
	 * @return the first response, or the failure to get one; retries follow independently
	 */
	CompletableFuture<ReleaseResult> release(LockBackend backend, Grant grant, CompletableFuture<?> quiet) {
		CompletionStage<ReleaseResult> first = null;
		if (quiet.isDone() && !backend.capabilities().has(Capability.BLOCKING)) {
			first = StoreResponses.ask(backend::release, grant);
			if (Stages.hasResult(first) && isConfirmed(first.toCompletableFuture().join())) {
				return first.toCompletableFuture();
			}
		}
		return new Request<>(backend, grant.claim().lock(), "release", grant.lease(), () -> backend.release(grant),
				ReleaseRetrier::isConfirmed)
			.start(quiet, first);
	}

	private static boolean isConfirmed(ReleaseResult answer) {
		return !(answer instanceof ReleaseResult.Indeterminate);
	}

	/**
	 * Asks the store to keep a lock for a time without this JVM, or releases it if that
	 * time is over. Both are retried.
	 * @param quiet completes when no earlier request for the lease is in progress
	 * @param remaining supplies the remaining time when the request is sent
	 */
	void retain(LockBackend backend, Grant grant, CompletableFuture<?> quiet, Supplier<Duration> remaining) {
		new Request<>(backend, grant.claim().lock(), "retention", grant.lease(), () -> {
			Duration left = remaining.get();
			if (left.compareTo(Duration.ZERO) <= 0) {
				return backend.release(grant).thenCompose(ReleaseRetrier::confirmed);
			}
			return backend.retain(grant, left).whenComplete((kept, failure) -> {
				if (Boolean.FALSE.equals(kept)) {
					this.notRetained.add(grant.claim().lock());
				}
			});
		}, Objects::nonNull).start(quiet, null);
	}

	/** Fails unless a release that replaces a retention is confirmed. */
	private static CompletionStage<Boolean> confirmed(ReleaseResult answer) {
		return (answer instanceof ReleaseResult.Indeterminate unknown) ? CompletableFuture.failedFuture(unknown.cause())
				: CompletableFuture.completedFuture(true);
	}

	/**
	 * Fails if too many requests that end holds or claims are unconfirmed: a
	 * session-bound store may keep what they are about for as long as an outage lasts.
	 */
	void requireConfirmations(ResolvedRequest request) {
		Retries present = this.retries.isEmpty() ? null : this.retries.get(request.backend());
		if (present != null && present.isFull()) {
			throw AcquisitionFailures.unconfirmed(request, Retries.MOST_UNCONFIRMED);
		}
	}

	/**
	 * Withdraws a claim.
	 * @param quiet completes when no release of the claim's lease is in progress
	 * @return the first response, or the failure to get one
	 */
	CompletableFuture<Void> abandon(LockBackend backend, Claim claim, CompletableFuture<?> quiet) {
		return new Request<>(backend, claim.lock(), "withdrawal", claim.leaseTime(), () -> backend.abandon(claim),
				(answer) -> true)
			.start(quiet, null);
	}

	/** Returns the requests that a closing engine awaits. */
	UnconfirmedRequests unconfirmed() {
		return this.unconfirmed;
	}

	/** Waits for the confirmation of every request. */
	void awaitConfirmations() {
		this.unconfirmed.await();
		warnOfNotRetained();
	}

	private void warnOfNotRetained() {
		if (!this.notRetained.isEmpty()) {
			logger.warn(
					"At shutdown, the minHold or the lock-delay of %s locks had not elapsed, and their store does not keep them without this application. Another instance may acquire them as soon as its client is closed. The first of them is '%s'. Use another store for such locks."
						.formatted(this.notRetained.size(), this.notRetained.peek()));
		}
	}

	/** Stops all retries. */
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

		private final Supplier<CompletionStage<T>> call;

		private final Predicate<T> settled;

		private final CompletableFuture<T> firstAnswer = new CompletableFuture<>();

		private final AtomicBoolean over = new AtomicBoolean();

		/**
		 * Creates a request.
		 * @param lease the lease that the store may keep, from now on
		 */
		Request(LockBackend backend, LockName lock, String what, Duration lease, Supplier<CompletionStage<T>> call,
				Predicate<T> settled) {
			this.backend = backend;
			this.lock = lock;
			this.what = what;
			this.deadline = backend.capabilities().has(Capability.SESSION_BOUND) ? Long.MAX_VALUE
					: ReleaseRetrier.this.time.nanos() + lease.toNanos();
			this.call = call;
			this.settled = settled;
		}

		/**
		 * Starts the request.
		 * @param first the response to come, if it is already sent
		 */
		CompletableFuture<T> start(CompletableFuture<?> quiet, @Nullable CompletionStage<T> first) {
			ReleaseRetrier.this.unconfirmed.sent();
			if (first != null) {
				await(() -> first);
			}
			else {
				quiet.thenRun(this::sendAgain);
			}
			return this.firstAnswer;
		}

		/**
		 * Sends the request without blocking the timer or a caller that must not wait.
		 */
		@Override
		void sendAgain() {
			if (!this.backend.capabilities().has(Capability.BLOCKING)) {
				send();
			}
			else if (!CallerRequests.add(this::sendHereIfPossible)) {
				ReleaseRetrier.this.threads.execute(this::send);
			}
		}

		/** Uses a worker if this thread must not send the request. */
		private void sendHereIfPossible() {
			if (CallerRequests.maySend(this.backend::releasesOnCaller)) {
				send();
			}
			else {
				ReleaseRetrier.this.threads.execute(this::send);
			}
		}

		private void send() {
			await(this.call);
		}

		private void await(Supplier<CompletionStage<T>> response) {
			Stages.whenDone(
					StoreResponses.within(response, ReleaseRetrier.this.responseTimeout, ReleaseRetrier.this.time),
					this::answered);
		}

		private void answered(T answer, Throwable failure) {
			boolean confirmed = failure == null && this.settled.test(answer);
			Object unconfirmed = (failure != null) ? failure : answer;
			if (this.firstAnswer.isDone()) {
				retries().answered(this, confirmed ? null : unconfirmed);
			}
			else {
				Stages.settle(this.firstAnswer, answer, failure);
				if (!confirmed) {
					// an error, as at the end of the stack, must not end the close of a
					// hold
					ClosableHold.DONE.thenRun(() -> retries().add(this, unconfirmed));
				}
			}
			if (confirmed || isRefused(unconfirmed)) {
				over();
			}
		}

		@Override
		void over() {
			if (this.over.compareAndSet(false, true)) {
				ReleaseRetrier.this.unconfirmed.over();
			}
		}

		private Retries retries() {
			return ReleaseRetrier.this.retries.computeIfAbsent(this.backend,
					(backend) -> new Retries(backend.name(), ReleaseRetrier.this.time));
		}

		@Override
		long deadline() {
			return this.deadline;
		}

		/**
		 * Returns whether a session-bound store has rejected the request, so that the
		 * lock remains. In any other store, the lease expires without an operator's
		 * action.
		 */
		@Override
		boolean isRefused(Object answer) {
			return answer instanceof LockBackendException && this.backend.capabilities().has(Capability.SESSION_BOUND);
		}

		@Override
		public String toString() {
			return "%s of lock '%s'".formatted(this.what, this.lock);
		}

	}

}
