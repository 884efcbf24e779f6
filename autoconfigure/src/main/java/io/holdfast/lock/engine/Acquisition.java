package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.observation.AcquireOutcome;

/**
 * State machine of one acquisition, from request to lease or failure.
 *
 * <p>
 * An acquisition first needs admission in this JVM, where it may find a lease. Otherwise
 * it makes attempts at the store: each response leads to a lease, to a wait for the
 * store's signal, or to a retry. Every failure ends in {@link #giveUp}.
 *
 * <p>
 * All steps run one after another on the given executor, so the state needs no lock.
 */
final class Acquisition {

	private final EngineContext context;

	final ResolvedRequest request;

	private final IfRefused ifRefused;

	final WaitTime wait;

	private final StoreRequest.Sender sender;

	final StepScheduler steps;

	private final LocalWaitQueues.Ticket ticket;

	private final AcquisitionObserver observer;

	private final Attempts attempts;

	private final CompletableFuture<Outcome<Lease>> outcome = new CompletableFuture<>();

	private boolean refused;

	Acquisition(EngineContext context, ResolvedRequest request, IfRefused ifRefused, Executor executor,
			StoreRequest.Sender sender) {
		this.context = context;
		this.sender = sender;
		this.request = (ifRefused == IfRefused.TRY_LATER) ? request.withWaitTime(0) : request;
		this.ifRefused = ifRefused;
		this.wait = new WaitTime(context.time(), context.time().nanos(), request.waitTime().toNanos());
		this.steps = new StepScheduler(context.time(), executor, this::failed);
		this.ticket = context.queues()
			.ticket(this.request, this.wait.startedAt(), this.steps::run, this::attemptInTime);
		this.attempts = new Attempts(context, request);
		this.observer = new AcquisitionObserver(context.observer(), this.wait, this.request, ifRefused);
	}

	/** Returns the outcome; it never completes exceptionally. */
	CompletableFuture<Outcome<Lease>> outcome() {
		return this.outcome;
	}

	/** Starts the acquisition on its executor. Call this or {@link #beginHere} once. */
	void begin() {
		this.steps.run(this::start);
	}

	/** Starts the acquisition on the calling thread, which runs all of its steps. */
	void beginHere() {
		this.steps.runHere(this::start);
	}

	private void start() {
		if (this.outcome.isDone()) {
			// cancelled before: there is no one left to leave the queue
			return;
		}
		this.observer.begins();
		if (!this.context.registry().begin(this)) {
			end(AcquireOutcome.INTERRUPTED,
					new Outcome.Failed<>(AcquisitionFailures.stopping(this.request, this.wait.elapsed())));
			return;
		}
		LocalWaitQueues.State admission = this.ticket.enter();
		this.refused = admission != LocalWaitQueues.State.ADMITTED;
		switch (admission) {
			case ADMITTED -> attempt();
			case QUEUED -> this.steps.after(
					Backoff.forAdmission(this.request, this.wait.left(), this.context.settings().responseTimeout()),
					this::timedOut);
			case OUTSIDE, LEFT -> timedOut();
		}
	}

	/**
	 * Makes the next attempt unless the deadline has passed, for example while the
	 * process was paused. A caller that is admitted immediately skips this check.
	 * Otherwise a short wait would succeed less often than none.
	 */
	private void attemptInTime() {
		if (deadlineHasPassed()) {
			timedOut();
			return;
		}
		attempt();
	}

	/** Takes over the lease of the holder before this caller, or asks the store. */
	private void attempt() {
		StoreLease idle = this.ticket.takeIdleLease();
		if (idle == null) {
			ask();
		}
		else if (idle.takeOver(this.request)) {
			begin(idle);
		}
		else {
			askAfter(idle.endIfIdle());
		}
	}

	private void askAfter(CompletableFuture<?> release) {
		this.ticket.leaving();
		this.steps.after(Backoff.forRelease(this.request, this.wait.left(), this.context.settings().responseTimeout()),
				this::attemptInTime);
		Runnable attempt = this.steps.inThisPhase(this::attemptInTime);
		release.whenComplete((answered, failure) -> attempt.run());
	}

	/**
	 * Makes an attempt. An immediate response continues the same step, unless the engine
	 * has stopped the acquisition in a step that now comes first.
	 */
	private void ask() {
		this.steps.nextPhase();
		Attempts.Attempt attempt = this.attempts.next(this, mayRetry());
		this.sender.send(attempt);
		if (!attempt.isDone()) {
			awaitAnswer(attempt);
		}
		else if (!attempt.isCompletedExceptionally() && !this.context.registry().isClosed()) {
			answered(attempt, attempt.join(), null);
			return;
		}
		attempt.whenComplete((result, failure) -> this.steps.run(() -> answered(attempt, result, failure)));
	}

	/** Awaits the response. Its timeout starts when the request is sent. */
	private void awaitAnswer(StoreRequest attempt) {
		boolean sent = attempt.isSent();
		long timeout = Backoff.forResponse(this.request, this.attempts.made(), sent, this.wait.left(),
				this.context.settings());
		this.steps.after(timeout, () -> onIndeterminate(StoreResponses.none(attempt.isSent())));
		if (!sent) {
			attempt.whenSent(this.steps.inThisPhase(() -> awaitAnswer(attempt)));
		}
	}

	/** Sends the claim, unless a retry has waited for a thread past the deadline. */
	CompletionStage<AcquireResult> send(Claim attempt, boolean first) {
		return (first || !deadlineHasPassed()) ? this.request.backend().tryAcquire(attempt)
				: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(StoreResponses.none(false)));
	}

	private void answered(Attempts.Attempt attempt, @Nullable AcquireResult result, @Nullable Throwable failure) {
		if (this.outcome.isDone()) {
			Lease lease = (this.outcome.join() instanceof Outcome.Granted<Lease> granted) ? granted.value() : null;
			this.attempts.withdrawUnlessKept(lease, attempt, result);
		}
		else if (result instanceof AcquireResult.Acquired acquired && this.attempts.isLatest(attempt)) {
			// a later attempt that fails may roll back the grant of an earlier one
			granted(acquired, attempt.sentAt());
		}
		else if (attempt.phase == this.steps.phase()) {
			if (result instanceof AcquireResult.Contended contended) {
				contended(contended, attempt.willRetry);
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

	private void granted(AcquireResult.Acquired acquired, long sentAt) {
		StoreLease lease = new StoreLease(this.context, this.request, acquired.grant(), sentAt);
		if (lease.validUntil() - this.context.time().nanos() <= 0) {
			onIndeterminate(StoreResponses.longerThan(acquired.grant().lease()));
			return;
		}
		begin(lease);
	}

	private void begin(StoreLease granted) {
		this.observer.granted(this.refused);
		end();
		Lease lease = granted.begin(this.request, this.ticket, this.observer);
		this.outcome.complete(AcquisitionFailures.unlessLost(lease));
	}

	private void contended(AcquireResult.Contended contended, boolean keepsClaim) {
		this.refused = true;
		this.attempts.rejected(keepsClaim);
		this.steps.nextPhase();
		if (!mayRetry()) {
			timedOut();
			return;
		}
		waitFor(Backoff.afterRefusal(contended.retryAfter(), this.context.time()));
		Runnable tryAgain = this.steps.inThisPhase(this::attemptInTime);
		contended.signal().whenComplete((news, failure) -> tryAgain.run());
	}

	/** Retries or times out after an attempt that the store may still have granted. */
	private void onIndeterminate(Throwable cause) {
		int before = this.attempts.unknown(cause);
		this.steps.nextPhase();
		if (!mayRetry()) {
			timedOut();
			return;
		}
		waitFor(Backoff.afterUnknownOutcome(before, this.context.time()));
	}

	private void waitFor(long pause) {
		this.steps.after(Math.min(pause, this.wait.left()), this::attemptInTime);
	}

	private void timedOut() {
		Throwable unknown = this.attempts.lastUnknown();
		if (unknown != null) {
			giveUp(AcquireOutcome.ERROR, AcquisitionFailures.unknown(this.request, this.attempts.made(), unknown));
			return;
		}
		giveUp(this.ifRefused.outcome(), AcquisitionFailures.refusal(this.request, this.ticket.isHolderLeaving(),
				this.attempts.made(), this.wait.elapsed()));
	}

	/** Cancels the acquisition on behalf of the caller. */
	void cancel() {
		this.steps.run(() -> giveUp(AcquireOutcome.INTERRUPTED,
				AcquisitionFailures.interrupted(this.request, this.attempts.made(), this.wait.elapsed())));
	}

	/** Cancels the acquisition because the application stops. */
	void stop() {
		this.steps.run(() -> giveUp(AcquireOutcome.INTERRUPTED,
				AcquisitionFailures.stopping(this.request, this.wait.elapsed())));
	}

	/** Fails after a permanent store failure or a failed step; no caller may hang. */
	private void failed(Throwable failure) {
		giveUp(AcquireOutcome.ERROR, AcquisitionFailures.failed(this.request, failure));
	}

	private void giveUp(AcquireOutcome how, LockException failure) {
		giveUp(how, new Outcome.Failed<>(failure));
	}

	private void giveUp(AcquireOutcome how, Outcome<Lease> reason) {
		if (this.outcome.isDone()) {
			return;
		}
		if (this.attempts.end()) {
			this.ticket.leaving();
			this.attempts.withdraw().whenComplete((done, failure) -> this.ticket.leave());
		}
		else {
			this.ticket.leave();
		}
		end(how, reason);
	}

	private void end(AcquireOutcome how, Outcome<Lease> reason) {
		this.observer.notGranted(how);
		end();
		this.outcome.complete(reason);
	}

	private void end() {
		this.steps.nextPhase();
		this.context.registry().end(this);
	}

	private boolean mayRetry() {
		return this.ifRefused != IfRefused.TRY_LATER && this.wait.left() > 0;
	}

	private boolean deadlineHasPassed() {
		return this.request.waits() && this.wait.left() <= 0;
	}

}
