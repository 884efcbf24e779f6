package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * One acquisition: from the wish for a lock to a lease, or to the certainty that there
 * will be none.
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
final class Acquisition implements LocalQueues.Waiter {

	/**
	 * The least time an attempt is given to be answered, even if the wait ends before.
	 */
	private static final long SHORTEST_PATIENCE = TimeUnit.MILLISECONDS.toNanos(200);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/**
	 * By how much a retry is put off at random, so that instances do not ask in step: a
	 * quarter.
	 */
	private static final double JITTER = 0.25;

	private final EngineContext context;

	private final Terms terms;

	private final Claim claim;

	private final @Nullable Thread acquirer;

	private final Steps steps;

	private final CompletableFuture<Lease> outcome = new CompletableFuture<>();

	private final long startedAt;

	private final long deadline;

	private final Refusal refusal;

	private int attempts;

	private int failures;

	private boolean refused;

	private boolean hasTurn;

	/** Whether the store may keep something of this claim. */
	private boolean traces;

	/** Whether the store was told that this claim will come back if it is refused. */
	private boolean comesBack;

	private volatile @Nullable AcquireOutcome endedAs;

	private long lastSentAt;

	private @Nullable Throwable lastFailure;

	Acquisition(EngineContext context, Terms terms, Refusal refusal, @Nullable Thread acquirer, Executor executor) {
		this.context = context;
		this.terms = terms;
		this.refusal = refusal;
		this.acquirer = acquirer;
		this.steps = new Steps(context.time(), executor, this::failed);
		this.startedAt = context.time().nanos();
		this.deadline = this.startedAt + terms.waitTime().toNanos();
		this.claim = new Claim(terms.lock(), OwnerId.random(), terms.mode(), terms.leaseTime(), terms.renew(),
				terms.waitTime(), terms.fair());
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
		this.context.observer().acquiring(this.terms.lock(), this.terms.backend().name());
		if (!this.context.census().begin(this)) {
			fail(AcquireOutcome.ERROR, Refusal.stopping(this.terms));
			return;
		}
		switch (this.context.queues().enter(this.terms.slot(), this)) {
			case TAKEN -> turnIsOurs();
			case REFUSED -> {
				this.refused = true;
				giveUp(this.refusal.outcome(), notAcquired());
			}
			case QUEUED -> {
				this.refused = true;
				this.steps.after(waitForTurn(), this::waitIsOver);
			}
		}
	}

	/** A caller that waits for no holder still waits for a release that is under way. */
	private long waitForTurn() {
		return this.terms.patient() ? this.deadline - now() : this.context.settings().responseTimeout().toNanos();
	}

	@Override
	public void turnPassed() {
		this.steps.run(() -> {
			if (this.outcome.isDone()) {
				this.context.queues().leave(this.terms.slot());
			}
			else {
				turnIsOurs();
			}
		});
	}

	@Override
	public void turnFree() {
		this.steps.run(() -> {
			if (!this.outcome.isDone() && this.context.queues().take(this.terms.slot(), this)) {
				turnIsOurs();
			}
		});
	}

	private void turnIsOurs() {
		this.hasTurn = true;
		attempt();
	}

	private void attempt() {
		this.steps.nextPhase();
		this.attempts++;
		this.traces = true;
		long sentAt = now();
		this.lastSentAt = sentAt;
		long left = Math.max(0, this.deadline - sentAt);
		this.comesBack = left > 0;
		Claim attempt = this.claim.withPatience(Duration.ofNanos(left));
		CompletableFuture<AcquireResult> answer = Answers.ask(() -> this.terms.backend().tryAcquire(attempt))
			.toCompletableFuture();
		if (!answer.isDone()) {
			this.steps.after(patienceForAnswer(left), () -> unknown(new TimeoutException("no answer in time")));
		}
		int askedIn = this.steps.phase();
		answer.whenComplete((result, failure) -> this.steps.run(() -> answered(askedIn, sentAt, result, failure)));
	}

	private long patienceForAnswer(long left) {
		long patience = this.context.settings().responseTimeout().toNanos();
		return this.terms.patient() ? Math.min(patience, Math.max(left, SHORTEST_PATIENCE)) : patience;
	}

	private void answered(int askedIn, long sentAt, @Nullable AcquireResult result, @Nullable Throwable failure) {
		if (result instanceof AcquireResult.Acquired acquired) {
			granted(acquired, sentAt);
		}
		else if (this.outcome.isDone()) {
			if (!(result instanceof AcquireResult.Contended)) {
				withdrawUnlessInUse();
			}
		}
		else if (askedIn != this.steps.phase()) {
			return;
		}
		else if (result instanceof AcquireResult.Contended contended) {
			refused(contended);
		}
		else if (result instanceof AcquireResult.Indeterminate indeterminate) {
			unknown(indeterminate.cause());
		}
		else {
			giveUp(AcquireOutcome.ERROR, Refusal.failed(this.terms, Answers.cause(failure)));
		}
	}

	private void granted(AcquireResult.Acquired acquired, long sentAt) {
		if (this.outcome.isDone()) {
			withdrawUnlessInUse();
			return;
		}
		long validity = sentAt + Lease.validity(acquired.grant().lease()) - now();
		if (validity <= 0) {
			unknown(new IllegalStateException("The grant took longer to arrive than its lease of "
					+ Durations.text(acquired.grant().lease()) + " lasts"));
			return;
		}
		Lease lease = new Lease(this.context, this.terms, acquired.grant(), sentAt, this.acquirer);
		end(this.refused ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED);
		lease.begin();
		if (this.terms.mode() == LockMode.SHARED) {
			lease.leaveTurn();
		}
		this.outcome.complete(lease);
	}

	/**
	 * What was granted, or may have been, when nobody waits for it any more must not
	 * stand until its lease ends.
	 */
	private void withdrawUnlessInUse() {
		if (this.outcome.isCompletedExceptionally() || !this.outcome.join().inUse()) {
			withdraw();
		}
	}

	private void refused(AcquireResult.Contended contended) {
		this.refused = true;
		this.failures = 0;
		this.lastFailure = null;
		long left = this.deadline - now();
		if (left <= 0) {
			this.traces = this.comesBack;
			giveUp(this.refusal.outcome(), notAcquired());
			return;
		}
		this.steps.nextPhase();
		long pause = Math.max(1, contended.retryAfter().toNanos());
		waitFor(pause + jitter(pause), left);
		Runnable tryAgain = this.steps.inThisPhase(this::attempt);
		contended.signal().whenComplete((news, failure) -> tryAgain.run());
	}

	private void unknown(Throwable cause) {
		this.lastFailure = cause;
		long left = this.deadline - now();
		if (left <= 0) {
			giveUp(AcquireOutcome.ERROR, Refusal.unknown(this.terms, this.attempts, cause));
			return;
		}
		this.steps.nextPhase();
		long pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(this.failures++, 10));
		waitFor(pause / 2 + ThreadLocalRandom.current().nextLong(pause), left);
	}

	private static long jitter(long pause) {
		return (long) (pause * JITTER * ThreadLocalRandom.current().nextDouble());
	}

	private void waitFor(long pause, long left) {
		if (pause < left) {
			this.steps.after(pause, this::attempt);
		}
		else {
			this.steps.after(left, this::waitIsOver);
		}
	}

	private void waitIsOver() {
		Throwable failure = this.lastFailure;
		if (failure != null) {
			giveUp(AcquireOutcome.ERROR, Refusal.unknown(this.terms, this.attempts, failure));
		}
		else {
			giveUp(this.refusal.outcome(), notAcquired());
		}
	}

	private LockException notAcquired() {
		return Refusal.notAcquired(this.terms, this.attempts, now() - this.startedAt);
	}

	/** Whether the lock was not to be had by a caller that goes on without. */
	boolean skipped() {
		return this.endedAs == AcquireOutcome.SKIPPED;
	}

	/** Withdraw at the wish of the caller. */
	void cancel() {
		this.steps.run(() -> giveUp(AcquireOutcome.INTERRUPTED,
				Refusal.interrupted(this.terms, this.attempts, now() - this.startedAt)));
	}

	/** Withdraw because the application stops. */
	void stop() {
		this.steps.run(() -> giveUp(AcquireOutcome.ERROR, Refusal.stopping(this.terms)));
	}

	private void giveUp(AcquireOutcome how, LockException reason) {
		if (this.outcome.isDone()) {
			return;
		}
		if (!this.hasTurn) {
			this.context.queues().withdraw(this.terms.slot(), this);
		}
		else if (!this.traces) {
			this.context.queues().leave(this.terms.slot());
		}
		else {
			this.context.queues().leaving(this.terms.slot());
			withdraw().whenComplete((done, failure) -> this.context.queues().leave(this.terms.slot()));
		}
		fail(how, reason);
	}

	private CompletableFuture<Void> withdraw() {
		long leaseEnds = this.lastSentAt + this.terms.leaseTime().toNanos();
		return this.context.cleanup().abandon(this.terms.backend(), this.claim, leaseEnds);
	}

	/** A step that fails must not leave a caller waiting. */
	private void failed(Throwable failure) {
		giveUp(AcquireOutcome.ERROR, Refusal.failed(this.terms, failure));
	}

	private void fail(AcquireOutcome how, LockException reason) {
		end(how);
		this.outcome.completeExceptionally(reason);
	}

	private void end(AcquireOutcome how) {
		this.endedAs = how;
		this.steps.nextPhase();
		this.context.census().end(this);
		this.context.observer()
			.acquired(this.terms.lock(), this.terms.backend().name(), how, Duration.ofNanos(now() - this.startedAt),
					this.terms.leaseTime());
	}

	private long now() {
		return this.context.time().nanos();
	}

	@Override
	public long since() {
		return this.startedAt;
	}

	@Override
	public boolean patient() {
		return this.terms.patient();
	}

	@Override
	public boolean fair() {
		return this.terms.fair();
	}

	Terms terms() {
		return this.terms;
	}

}
