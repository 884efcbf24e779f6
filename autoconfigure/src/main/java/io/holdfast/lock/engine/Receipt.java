package io.holdfast.lock.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Tracks whether a granted value has reached its asynchronous caller. Either the caller's
 * code takes the value or the lock is released, never both. All stages that are derived
 * from the caller's future share one receipt.
 */
final class Receipt {

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final Runnable release;

	private volatile @Nullable Object granted;

	/**
	 * Creates a receipt.
	 * @param release releases the lock, even if it is granted later
	 */
	Receipt(Runnable release) {
		this.release = release;
	}

	/** Records the granted value. Called before a future completes with it. */
	void granted(Object value) {
		this.granted = value;
	}

	/**
	 * Records that the caller's code takes a value, if it is the granted one.
	 * @throws CancellationException if the lock was released before
	 */
	<V extends @Nullable Object> V take(V value) {
		if (value != null && value == this.granted && !this.state.compareAndSet(State.OPEN, State.TAKEN)
				&& this.state.get() == State.RELEASED) {
			throw new CancellationException(
					"The lock was released because every stage that would have received it had been completed externally.");
		}
		return value;
	}

	/** Releases the lock unless its value is taken. */
	void release() {
		if (this.state.compareAndSet(State.OPEN, State.RELEASED)) {
			this.release.run();
		}
	}

	private enum State {

		OPEN, TAKEN, RELEASED

	}

}
