package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.observation.AcquireOutcome;

/**
 * State machine of one acquisition, from request to lease or failure.
 *
 * <p>
 * An acquisition first needs admission in this JVM, where it may find a lease. Otherwise
 * it makes attempts at the store: each response leads to a lease, to a wait for a signal,
 * or to a retry. Every failure ends in {@link #giveUp}. Steps never run concurrently.
 */
final class Acquisition extends LocalWaitQueues.Ticket {

	final EngineContext context;

	private final IfRefused ifRefused;

	private final StoreRequest.Sender sender;

	private final AcquisitionObserver observer;

	final Attempts attempts;

	private final CompletableFuture<Outcome<Lease>> outcome = new CompletableFuture<>();

	boolean refused;

	boolean hasAwaitedReleases;

	Acquisition(EngineContext context, ResolvedRequest request, IfRefused ifRefused, Executor executor,
			StoreRequest.Sender sender) {
		super(context.queues(), (ifRefused == IfRefused.TRY_LATER) ? request.withWaitTime(0) : request,
				context.time().nanos(), request.waitTime(), executor);
		this.context = context;
		this.sender = sender;
		this.ifRefused = ifRefused;
		this.attempts = new Attempts(this);
		this.observer = new AcquisitionObserver(context.observer(), this);
	}

	/** Returns the outcome; it never completes exceptionally. */
	CompletableFuture<Outcome<Lease>> outcome() {
		return this.outcome;
	}

	/** Starts the acquisition on its executor. Call this or {@link #startHere} once. */
	void start() {
		run(() -> firstStep(this.time.nanos()));
	}

	@Override
	void onAdmitted() {
		attemptInTime();
	}

	/**
	 * Starts on the calling thread, which has just created it and runs all of its steps.
	 */
	void startHere() {
		runHere(() -> firstStep(this.startedAt));
	}

	/**
	 * Enters the wait queue, and makes an attempt if admitted immediately.
	 * @param now the present time, or a slightly earlier one
	 */
	private void firstStep(long now) {
		if (this.outcome.isDone()) {
			// cancelled before: there is no one left to leave the queue
			return;
		}
		this.observer.started(this.ifRefused);
		if (!this.context.registry().add(this)) {
			end(AcquireOutcome.INTERRUPTED,
					new Outcome.Failed<>(() -> AcquisitionFailures.stopping(this.request, elapsed())));
			return;
		}
		LocalWaitQueues.State admission = enter();
		this.refused = admission != LocalWaitQueues.State.ADMITTED;
		switch (admission) {
			case ADMITTED -> attempt(now);
			case QUEUED -> after(Backoff.forAdmission(this.request, left(), this.context.settings().responseTimeout()),
					this::timedOut);
			case OUTSIDE, LEAVING, LEFT -> timedOut();
		}
	}

	/**
	 * Makes the next attempt unless the deadline has passed, as in a pause of the
	 * process. The first attempt skips this: a short wait must not be worse than none.
	 */
	private void attemptInTime() {
		if (deadlineHasPassed()) {
			timedOut();
			return;
		}
		attempt(this.time.nanos());
	}

	/** Takes over the lease of the holder before this caller, or asks the store. */
	private void attempt(long now) {
		StoreLease idle = takeIdleLease();
		CompletableFuture<?> release = (idle != null) ? idle.end.idleEnded() : this.context.releases().before(this);
		if (idle != null && idle.takeOver(this.request)) {
			startHold(idle, this.time.nanos());
		}
		else if (release != null) {
			askAfter(release);
		}
		else {
			ask(now);
		}
	}

	private void askAfter(CompletableFuture<?> release) {
		after(Backoff.forRelease(this.request, left(), this.context.settings().responseTimeout()), this::attemptInTime);
		Runnable attempt = inThisPhase(this::attemptInTime);
		release.whenComplete((answered, failure) -> attempt.run());
	}

	/** Makes an attempt. Its response may be there at once, in the same step. */
	private void ask(long now) {
		nextPhase();
		Attempt attempt = this.attempts.next(now);
		this.sender.send(attempt);
		if (!attempt.isDone()) {
			awaitAnswer(attempt);
		}
		// a closing engine stops this acquisition in a step that comes first
		else if (!attempt.isCompletedExceptionally() && !this.context.registry().isClosed()) {
			answered(attempt, attempt.join(), null);
			return;
		}
		attempt.whenComplete((result, failure) -> run(() -> answered(attempt, result, failure)));
	}

	/** Awaits the response. Its timeout starts when the request is sent. */
	private void awaitAnswer(StoreRequest attempt) {
		boolean sent = attempt.isSent();
		long timeout = Backoff.forResponse(this.request, this.attempts.made(), sent, left(), this.context.settings());
		after(timeout, () -> onIndeterminate(StoreResponses.none(attempt.isSent(), timeout, this.context.settings())));
		if (!sent) {
			attempt.whenSent(inThisPhase(() -> awaitAnswer(attempt)));
		}
	}

	private void answered(Attempt attempt, @Nullable AcquireResult result, @Nullable Throwable failure) {
		attempt.processed = true;
		if (this.outcome.isDone()) {
			this.attempts.withdrawUnlessKept(this.outcome.join(), attempt, result);
		}
		else if (result instanceof AcquireResult.Acquired acquired && this.attempts.isLatest(attempt)) {
			granted(acquired, attempt.sentAt());
		}
		// a later attempt that fails may roll back the grant of an earlier one. If it was
		// rejected before that grant, no signal comes
		else if (result instanceof AcquireResult.Acquired && this.attempts.noteEarlierGrant()) {
			attemptInTime();
		}
		else if (attempt.phase == phase()) {
			if (result instanceof AcquireResult.Contended contended) {
				contended(contended, attempt);
			}
			else if (result instanceof AcquireResult.Indeterminate indeterminate) {
				onIndeterminate(indeterminate.cause());
			}
			else {
				this.attempts.failed(attempt, failure);
				failed(StoreResponses.cause(failure));
			}
		}
	}

	private void granted(AcquireResult.Acquired result, long sentAt) {
		StoreLease lease = StoreLease.of(this.context, this.request, result.grant(), sentAt, this.attempts.made() > 1);
		if (lease.validUntil() <= lease.grantedAt) {
			onIndeterminate(StoreResponses.longerThan(result.grant().lease()));
			return;
		}
		startHold(lease, lease.grantedAt);
	}

	private void startHold(StoreLease granted, long at) {
		this.observer.granted(this.refused, at);
		nextPhase();
		Lease lease = granted.start(this.request, this, at, this.observer);
		this.outcome.complete(this.attempts.outcome(lease));
	}

	private void contended(AcquireResult.Contended contended, Attempt attempt) {
		this.refused = true;
		this.attempts.rejected(attempt.willRetry);
		nextPhase();
		if (!mayRetry()) {
			Runnable next = (contended.demanded() && this.ifRefused != IfRefused.TRY_LATER && outwaitsDemand())
					? () -> attempt(this.time.nanos()) : this::timedOut;
			next.run();
			return;
		}
		long pause = attempt.earlierGranted ? 0 : Backoff.afterRefusal(contended.retryAfter(), this.time);
		after(Math.min(pause, left()), this::attemptInTime);
		int phase = phase();
		contended.signal().whenComplete((news, failure) -> runIn(phase, () -> notified(news, attempt.sentAt())));
	}

	/** Holds a lock that the store keeps for this claim, or makes the next attempt. */
	private void notified(@Nullable Object news, long sentAt) {
		StoreLease kept = (news instanceof KeptLock lock && !deadlineHasPassed())
				? StoreLease.ofKept(this.context, this.request, lock, sentAt) : null;
		if (kept != null) {
			startHold(kept, kept.grantedAt);
		}
		else {
			attemptInTime();
		}
	}

	/** Retries or times out after an attempt that the store may still have granted. */
	private void onIndeterminate(Throwable cause) {
		int before = this.attempts.unknown(cause);
		nextPhase();
		if (!mayRetry()) {
			timedOut();
			return;
		}
		after(Math.min(Backoff.afterUnknownOutcome(before, this.time), left()), this::attemptInTime);
	}

	@Override
	void timedOut() {
		if (this.attempts.wasInterrupted()) {
			cancel();
			return;
		}
		LockException storeFailure = this.attempts.storeFailure();
		if (storeFailure != null) {
			giveUp(AcquireOutcome.ERROR, storeFailure);
			return;
		}
		giveUp(this.ifRefused.outcome(),
				AcquisitionFailures.refusal(this.request, isHolderLeaving(), this.attempts.made(), elapsed()));
	}

	/** Cancels the acquisition on behalf of the caller. */
	void cancel() {
		run(() -> giveUp(AcquireOutcome.INTERRUPTED,
				AcquisitionFailures.interrupted(this.request, this.attempts.made(), elapsed())));
	}

	/** Cancels the acquisition because the application stops. */
	void stop() {
		run(() -> giveUp(AcquireOutcome.INTERRUPTED, AcquisitionFailures.stopping(this.request, elapsed())));
	}

	/** Fails after a permanent store failure or a failed step; no caller may hang. */
	@Override
	void failed(Throwable failure) {
		giveUp(AcquireOutcome.ERROR, new Outcome.Failed<>(() -> AcquisitionFailures.failed(this.request, failure)));
	}

	void giveUp(AcquireOutcome how, LockException failure) {
		giveUp(how, new Outcome.Failed<>(() -> failure));
	}

	private void giveUp(AcquireOutcome how, Outcome<Lease> reason) {
		if (this.outcome.isDone()) {
			return;
		}
		if (this.attempts.end()) {
			leaving();
			this.attempts.withdraw().whenComplete((done, failure) -> leave());
		}
		else {
			leave();
		}
		end(how, reason);
	}

	private void end(AcquireOutcome how, Outcome<Lease> reason) {
		this.observer.notGranted(how);
		nextPhase();
		this.context.registry().remove(this);
		this.outcome.complete(reason);
	}

	boolean mayRetry() {
		return this.ifRefused != IfRefused.TRY_LATER && left() > 0;
	}

}
