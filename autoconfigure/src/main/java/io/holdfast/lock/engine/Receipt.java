package io.holdfast.lock.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Whether what was granted to an asynchronous caller has reached it: either code of the
 * caller takes it, or it is released, and never both. All stages that are derived from
 * the caller's future share one of these.
 */
final class Receipt {

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final Runnable release;

	private volatile @Nullable Object granted;

	/**
	 * Create a receipt.
	 * @param release gives back what is granted, or will be
	 */
	Receipt(Runnable release) {
		this.release = release;
	}

	/** To be called before a future completes with a lock. */
	void granted(Object value) {
		this.granted = value;
	}

	/**
	 * Notes that code of the caller takes a value, if that is what was granted.
	 * @throws CancellationException if it was released before
	 */
	<V extends @Nullable Object> V take(V value) {
		if (value != null && value == this.granted && !this.state.compareAndSet(State.OPEN, State.TAKEN)
				&& this.state.get() == State.RELEASED) {
			throw new CancellationException(
					"The lock was released, because every stage that would have received it was completed from outside before.");
		}
		return value;
	}

	/** Releases what was granted unless it is taken. */
	void release() {
		if (this.state.compareAndSet(State.OPEN, State.RELEASED)) {
			this.release.run();
		}
	}

	private enum State {

		OPEN, TAKEN, RELEASED

	}

}
