package io.holdfast.lock.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * One caller's turn in the line of its lock: waited for by the acquisition, then kept by
 * the lease until that has ended. It is given up exactly once, whoever asks for it.
 *
 * <p>
 * Entering, arrival and withdrawal are steps of the acquisition; to leave is for any
 * thread.
 */
final class Turn implements LocalQueues.Waiter {

	private final LocalQueues queues;

	private final Terms terms;

	private final LocalQueues.Slot slot;

	private final long since;

	private final Steps steps;

	private final Runnable whenOurs;

	private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

	/**
	 * Create a turn that is not ours yet.
	 * @param whenOurs the step to take when it has become ours by waiting
	 */
	Turn(LocalQueues queues, Terms terms, long since, Steps steps, Runnable whenOurs) {
		this.queues = queues;
		this.terms = terms;
		this.slot = terms.slot();
		this.since = since;
		this.steps = steps;
		this.whenOurs = whenOurs;
	}

	LocalQueues.Admission enter() {
		LocalQueues.Admission admission = this.queues.enter(this.slot, this);
		if (admission == LocalQueues.Admission.TAKEN) {
			this.state.set(State.OURS);
		}
		return admission;
	}

	@Override
	public void turnPassed() {
		this.steps.run(() -> {
			if (this.state.compareAndSet(State.WAITING, State.OURS)) {
				this.whenOurs.run();
			}
			else {
				this.queues.leave(this.slot);
			}
		});
	}

	@Override
	public void turnFree() {
		this.steps.run(() -> {
			if (this.state.get() == State.WAITING && this.queues.take(this.slot, this)) {
				this.state.set(State.OURS);
				this.whenOurs.run();
			}
		});
	}

	/** Stop waiting for it. */
	void withdraw() {
		if (this.state.compareAndSet(State.WAITING, State.GIVEN_UP)) {
			this.queues.withdraw(this.slot, this);
		}
	}

	boolean isOurs() {
		return this.state.get() == State.OURS;
	}

	/** What has kept the lock from a caller, in words. */
	String obstacle(int attempts) {
		if (attempts > 0) {
			return "another holder kept it";
		}
		return this.queues.isLeaving(this.slot) ? "its release by this JVM was not answered by the store yet"
				: "another caller in this JVM kept it";
	}

	/** Say that it will be left as soon as the store has answered. */
	void leaving() {
		if (isOurs()) {
			this.queues.leaving(this.slot);
		}
	}

	/** Let the next of this JVM have its turn. */
	void leave() {
		if (this.state.compareAndSet(State.OURS, State.GIVEN_UP)) {
			this.queues.leave(this.slot);
		}
	}

	@Override
	public long since() {
		return this.since;
	}

	@Override
	public boolean patient() {
		return this.terms.patient();
	}

	@Override
	public boolean fair() {
		return this.terms.fair();
	}

	private enum State {

		WAITING, OURS, GIVEN_UP

	}

}
