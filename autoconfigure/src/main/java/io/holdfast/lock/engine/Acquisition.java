package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.DurationText;

/**
 * State machine of one acquisition, from request to lease or failure.
 *
 * <p>
 * First the turn in this JVM, then attempts at the store: each answer leads to a lease,
 * to waiting for the store's signal, or to asking again. Every attempt carries the same
 * owner id, so an answer that was lost is simply asked for again. Time-out, interrupt,
 * cancellation and the store's failure all end in {@link #giveUp}, which withdraws what
 * the store may have kept.
 *
 * <p>
 * All steps run one after another on the executor given, so the state here needs no lock.
 */
final class Acquisition {

	private final EngineContext context;

	private final Terms terms;

	private final Refusal refusal;

	private final Claim claim;

	private final long startedAt;

	private final long deadline;

	private final Steps steps;

	private final Turn turn;

	private final Report report;

	private final CompletableFuture<Lease> outcome = new CompletableFuture<>();

	private int attempts;

	private int silences;

	private boolean refused;

	/** Whether the store may keep something of this claim. */
	private boolean traces;

	private @Nullable Throwable lastSilence;

	Acquisition(EngineContext context, Terms terms, Refusal refusal, Executor executor) {
		this.context = context;
		this.terms = (refusal == Refusal.TENTATIVE) ? terms.withWaitTime(0) : terms;
		this.refusal = refusal;
		this.claim = new Claim(terms.lock(), OwnerId.random(), terms.mode(),
				context.settings().asked(terms.leaseTime()), terms.renew(), terms.waitTime(), terms.fair());
		this.startedAt = context.time().nanos();
		this.deadline = this.startedAt + terms.waitTime().toNanos();
		this.steps = new Steps(context.time(), executor, this::failed);
		this.turn = new Turn(context.queues(), this.terms, this.startedAt, this.steps, this::attemptInTime);
		this.report = new Report(context, this.terms, refusal, this.startedAt);
	}

	/**
	 * The lease, or a {@link LockException} that says why there is none.
	 */
	CompletableFuture<Lease> outcome() {
		return this.outcome;
	}

	/** Set out; to be called once. */
	void begin() {
		this.steps.run(this::start);
	}

	private void start() {
		this.report.begins();
		if (!this.context.census().begin(this)) {
			fail(AcquireOutcome.ERROR, Refusal.stopping(this.terms, now() - this.startedAt));
			return;
		}
		LocalQueues.Admission admission = this.turn.enter();
		if (admission == LocalQueues.Admission.TAKEN) {
			attempt();
			return;
		}
		this.refused = true;
		if (admission == LocalQueues.Admission.REFUSED) {
			waitIsOver();
		}
		else {
			this.steps.after(patienceForTurn(), this::waitIsOver);
		}
	}

	/** A caller that waits for no holder still waits for a release that is under way. */
	private long patienceForTurn() {
		return this.terms.patient() ? left() : this.context.settings().responseTimeout().toNanos();
	}

	/**
	 * Makes the next attempt unless the wait is over. A step can run long after it was
	 * due, because the process stood still, and a claim must not be sent to the store
	 * after its deadline. Only the attempt of a caller who finds the turn free is exempt:
	 * it comes first, and without it a short wait would succeed less often than none.
	 */
	private void attemptInTime() {
		if (this.terms.patient() && left() <= 0) {
			waitIsOver();
		}
		else {
			attempt();
		}
	}

	private void attempt() {
		this.steps.nextPhase();
		this.attempts++;
		long left = Math.max(0, left());
		Attempt attempt = new Attempt(this.steps.phase(), now(), mayAskAgain(), this.traces);
		this.traces = true;
		Claim sent = this.claim.withPatience(attempt.comesBack() ? Duration.ofNanos(left) : Duration.ZERO);
		CompletableFuture<AcquireResult> answer = Answers.ask(() -> this.terms.backend().tryAcquire(sent))
			.toCompletableFuture();
		if (!answer.isDone()) {
			this.steps.after(Pauses.forAnswer(this.attempts, left, this.context.settings().responseTimeout()),
					() -> silent(new TimeoutException("no answer in time")));
		}
		answer.whenComplete((result, failure) -> this.steps.run(() -> answered(attempt, result, failure)));
	}

	private void answered(Attempt attempt, @Nullable AcquireResult result, @Nullable Throwable failure) {
		if (this.outcome.isDone()) {
			answeredTooLate(attempt, result);
		}
		else if (result instanceof AcquireResult.Acquired acquired) {
			granted(acquired, attempt.sentAt());
		}
		else if (attempt.phase() == this.steps.phase()) {
			if (result instanceof AcquireResult.Contended contended) {
				contended(contended, attempt.comesBack());
			}
			else if (result instanceof AcquireResult.Indeterminate indeterminate) {
				silent(indeterminate.cause());
			}
			else if (failure != null) {
				this.traces = attempt.tracesBefore();
				failed(Answers.cause(failure));
			}
		}
	}

	private void granted(AcquireResult.Acquired acquired, long sentAt) {
		long validity = sentAt + this.context.settings().validity(acquired.grant().lease()) - now();
		if (validity <= 0) {
			silent(new IllegalStateException("the grant took longer to arrive than its lease of "
					+ DurationText.of(acquired.grant().lease()) + " lasts"));
			return;
		}
		Lease lease = new Lease(this.context, this.terms, acquired.grant(), sentAt, this.turn);
		this.report.granted(this.refused);
		end();
		lease.begin();
		if (this.terms.mode() == LockMode.SHARED) {
			this.turn.leave();
		}
		this.outcome.complete(lease);
	}

	/**
	 * Withdraws what an attempt may have left at the store when its answer arrives after
	 * the decision. While the lease that an earlier answer led to keeps the lock, there
	 * is nothing to withdraw: both attempts are the same claim.
	 */
	private void answeredTooLate(Attempt attempt, @Nullable AcquireResult result) {
		boolean kept = !this.outcome.isCompletedExceptionally() && this.outcome.join().keepsLock();
		boolean leftNothing = result instanceof AcquireResult.Contended && !attempt.comesBack();
		if (!kept && !leftNothing) {
			withdraw();
		}
	}

	private void contended(AcquireResult.Contended contended, boolean keepsPlace) {
		this.refused = true;
		this.silences = 0;
		this.lastSilence = null;
		this.traces = keepsPlace;
		this.steps.nextPhase();
		if (!mayAskAgain()) {
			waitIsOver();
			return;
		}
		waitFor(Pauses.afterRefusal(contended.retryAfter(), this.context.time()));
		Runnable tryAgain = this.steps.inThisPhase(this::attemptInTime);
		contended.signal().whenComplete((news, failure) -> tryAgain.run());
	}

	/** The last attempt may have been granted, or may still be: nobody knows. */
	private void silent(Throwable cause) {
		this.lastSilence = cause;
		this.steps.nextPhase();
		if (!mayAskAgain()) {
			waitIsOver();
			return;
		}
		waitFor(Pauses.afterSilence(this.silences++, this.context.time()));
	}

	private void waitFor(long pause) {
		long left = left();
		if (pause < left) {
			this.steps.after(pause, this::attemptInTime);
		}
		else {
			this.steps.after(left, this::waitIsOver);
		}
	}

	private void waitIsOver() {
		if (this.lastSilence != null) {
			giveUp(AcquireOutcome.ERROR, Refusal.unknown(this.terms, this.attempts, this.lastSilence));
		}
		else {
			giveUp(this.refusal.outcome(), this.refusal.notAcquired(this.terms, this.attempts, now() - this.startedAt));
		}
	}

	/** Withdraw at the wish of the caller. */
	void cancel() {
		this.steps.run(() -> giveUp(AcquireOutcome.INTERRUPTED,
				Refusal.interrupted(this.terms, this.attempts, now() - this.startedAt)));
	}

	/** Withdraw because the application stops. */
	void stop() {
		this.steps.run(() -> giveUp(AcquireOutcome.ERROR, Refusal.stopping(this.terms, now() - this.startedAt)));
	}

	/** The store failed for good, or a step did: that must not leave a caller waiting. */
	private void failed(Throwable failure) {
		giveUp(AcquireOutcome.ERROR, Refusal.failed(this.terms, failure));
	}

	private void giveUp(AcquireOutcome how, LockException reason) {
		if (this.outcome.isDone()) {
			return;
		}
		this.turn.withdraw();
		if (this.traces) {
			this.turn.leaving();
			withdraw().whenComplete((done, failure) -> this.turn.leave());
		}
		else {
			this.turn.leave();
		}
		fail(how, reason);
	}

	private CompletableFuture<Void> withdraw() {
		long leaseEnds = now() + this.claim.leaseTime().toNanos();
		return this.context.cleanup().abandon(this.terms.backend(), this.claim, leaseEnds);
	}

	private void fail(AcquireOutcome how, LockException reason) {
		this.report.notGranted(how);
		end();
		this.outcome.completeExceptionally(reason);
	}

	private void end() {
		this.steps.nextPhase();
		this.context.census().end(this);
	}

	private boolean mayAskAgain() {
		return this.refusal != Refusal.TENTATIVE && left() > 0;
	}

	private long left() {
		return this.deadline - now();
	}

	private long now() {
		return this.context.time().nanos();
	}

}
