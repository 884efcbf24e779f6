package io.holdfast.lock.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A caller's position in the wait queue of its lock: the acquisition waits with it, and
 * the lease keeps it until the lease has ended. It is given up exactly once, by any
 * thread.
 *
 * <p>
 * Entering, admission and withdrawal are steps of the acquisition.
 */
final class QueueTicket implements LocalWaitQueues.Waiter {

	private final LocalWaitQueues queues;

	private final ResolvedRequest terms;

	private final LocalWaitQueues.QueueKey queueKey;

	private final long since;

	private final StepScheduler steps;

	private final Runnable onAdmitted;

	private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

	/**
	 * Creates a ticket that is not admitted yet.
	 * @param onAdmitted runs when it is admitted after waiting
	 */
	QueueTicket(LocalWaitQueues queues, ResolvedRequest terms, long since, StepScheduler steps, Runnable onAdmitted) {
		this.queues = queues;
		this.terms = terms;
		this.queueKey = terms.queueKey();
		this.since = since;
		this.steps = steps;
		this.onAdmitted = onAdmitted;
	}

	LocalWaitQueues.Admission enter() {
		LocalWaitQueues.Admission admission = this.queues.enter(this.queueKey, this);
		if (admission == LocalWaitQueues.Admission.ADMITTED) {
			this.state.set(State.ADMITTED);
		}
		return admission;
	}

	@Override
	public void onHandedOver() {
		this.steps.run(() -> {
			if (this.state.compareAndSet(State.WAITING, State.ADMITTED)) {
				this.onAdmitted.run();
			}
			else {
				this.queues.leave(this.queueKey);
			}
		});
	}

	@Override
	public void onAvailable() {
		this.steps.run(() -> {
			if (this.state.get() == State.WAITING && this.queues.take(this.queueKey, this)) {
				this.state.set(State.ADMITTED);
				this.onAdmitted.run();
			}
		});
	}

	/** Stops waiting. */
	void withdraw() {
		if (this.state.compareAndSet(State.WAITING, State.GIVEN_UP)) {
			this.queues.withdraw(this.queueKey, this);
		}
	}

	boolean isAdmitted() {
		return this.state.get() == State.ADMITTED;
	}

	/** Describes why the caller did not get the lock. */
	String obstacle(int attempts) {
		if (attempts > 0) {
			return "another holder kept it";
		}
		return this.queues.isLeaving(this.queueKey) ? "the store has not confirmed its release by this JVM"
				: "another caller in this JVM kept it";
	}

	/** Marks the queue as about to be left, as soon as the store has responded. */
	void leaving() {
		if (isAdmitted()) {
			this.queues.leaving(this.queueKey);
		}
	}

	/** Leaves the queue, so that the next caller of this JVM is admitted. */
	void leave() {
		if (this.state.compareAndSet(State.ADMITTED, State.GIVEN_UP)) {
			this.queues.leave(this.queueKey);
		}
	}

	@Override
	public long since() {
		return this.since;
	}

	@Override
	public boolean waits() {
		return this.terms.waits();
	}

	@Override
	public boolean fair() {
		return this.terms.fair();
	}

	private enum State {

		WAITING, ADMITTED, GIVEN_UP

	}

}
