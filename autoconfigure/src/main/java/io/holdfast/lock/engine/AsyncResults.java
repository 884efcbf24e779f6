package io.holdfast.lock.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.observation.LockObservation;

/**
 * Creates the futures of asynchronous callers. A caller may complete its future at any
 * time, and the JDK skips the function of a completed stage. Therefore, no function of a
 * stage that a caller can reach is responsible for releasing a lock.
 */
final class AsyncResults {

	private AsyncResults() {
	}

	/**
	 * Delivers a hold to its caller, or releases it if it does not reach the caller.
	 * @param acquired the outcome of the acquisition
	 * @param value creates the caller's value from the outcome, or throws
	 * @param callbacks runs the stages that the caller derives from its future
	 */
	static <T> CompletionStage<T> deliver(CompletableFuture<Outcome<HeldLocks>> acquired,
			Function<Outcome<HeldLocks>, ? extends T> value, Executor callbacks) {
		Receipt receipt = new Receipt(() -> acquired.thenAccept((outcome) -> outcome.map(HeldLocks::discard)));
		WithdrawableFuture<T> result = new WithdrawableFuture<>(() -> {
			acquired.cancel(false);
			receipt.release();
		}, receipt);
		acquired.whenCompleteAsync((outcome, cancellation) -> {
			if (cancellation != null) {
				result.settle(null, cancellation);
				return;
			}
			try {
				T delivered = value.apply(outcome);
				if (outcome instanceof Outcome.Granted) {
					receipt.granted(delivered);
				}
				result.settle(delivered, null);
			}
			catch (RuntimeException | Error ex) {
				result.settle(null, ex);
			}
		}, unlessRefused(acquired, callbacks));
		return result;
	}

	/**
	 * Runs an action under a hold, unless the caller has already completed the result or
	 * the hold was lost before a thread was free.
	 * @param acquired the outcome of the acquisition
	 * @param action the action
	 * @param callbacks runs the action
	 */
	static <T extends @Nullable Object> CompletionStage<T> execute(CompletableFuture<Outcome<HeldLocks>> acquired,
			Function<LockHandle, CompletionStage<T>> action, Executor callbacks) {
		WithdrawableFuture<T> result = new WithdrawableFuture<>(() -> acquired.cancel(false), new Receipt(() -> {
		}));
		acquired.whenCompleteAsync((outcome, cancellation) -> {
			if (!(outcome instanceof Outcome.Granted<HeldLocks> granted)) {
				result.settle(null, (cancellation != null) ? cancellation : failureOf(outcome::orElseThrow));
			}
			else if (result.isDone()) {
				granted.value().discard();
			}
			else {
				closeAfter(run(action, granted.value()), granted.value()).whenComplete(result::settle);
			}
		}, unlessRefused(acquired, callbacks));
		return result;
	}

	private static <T extends @Nullable Object> CompletionStage<T> run(Function<LockHandle, CompletionStage<T>> action,
			HeldLocks locks) {
		return StoreResponses.ask((held) -> {
			requireHeldAtStart(held);
			try (LockObservation.Scope scope = held.openScope()) {
				return action.apply(held);
			}
		}, locks, () -> new LockConfigurationException(
				"The asynchronous action under lock '%s' returned null instead of a stage, so its completion cannot be awaited. The lock is released. Return CompletableFuture.completedFuture(null) if there is no result."
					.formatted(locks.lock())));
	}

	/** Discards a hold under which the action does not start. */
	private static void requireHeldAtStart(HeldLocks held) {
		try {
			held.requireHeldAtStart();
		}
		catch (RuntimeException | Error ex) {
			held.discard();
			throw ex;
		}
	}

	/** Uses no other thread for a request that fails before its caller has a future. */
	private static Executor unlessRefused(CompletableFuture<Outcome<HeldLocks>> acquired, Executor callbacks) {
		return (acquired.isDone() && !(acquired.join() instanceof Outcome.Granted)) ? Runnable::run : callbacks;
	}

	/** Implements {@link LockEngine#closeAfter}. */
	static <T extends @Nullable Object> CompletableFuture<T> closeAfter(CompletionStage<T> stage, LockHandle handle) {
		CompletableFuture<T> result = new CompletableFuture<>();
		try {
			stage.whenComplete((value, failure) -> close(handle, value, failure, result));
		}
		catch (RuntimeException | Error ex) {
			close(handle, null, ex, result);
		}
		return result;
	}

	private static <T extends @Nullable Object> void close(LockHandle handle, @Nullable T value,
			@Nullable Throwable failure, CompletableFuture<T> result) {
		// null if the handle comes from another implementation of LockOperations
		HeldLocks held = (handle instanceof HeldLocks own) ? own : null;
		Throwable body = (failure != null) ? failure
				: failureOf((held != null) ? () -> held.verify(Checkpoint.RETURN) : handle::assertHeld);
		close(handle, held).whenComplete((answered, refused) -> {
			Throwable end = (body != null) ? body : refused;
			if (end == null && held != null) {
				end = failureOf(() -> held.verify(Checkpoint.RELEASED));
			}
			if (end != null) {
				result.completeExceptionally(end);
			}
			else {
				result.complete(value);
			}
		});
	}

	private static CompletableFuture<?> close(LockHandle handle, @Nullable HeldLocks held) {
		try {
			if (held != null) {
				return held.closeAsync();
			}
			handle.close();
			return CompletableFuture.completedFuture(null);
		}
		catch (RuntimeException | Error ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static @Nullable Throwable failureOf(Runnable check) {
		try {
			check.run();
			return null;
		}
		catch (RuntimeException | Error ex) {
			return ex;
		}
	}

	/**
	 * Tracks whether a granted value has reached its asynchronous caller. Either the
	 * caller's code takes the value or the lock is released, never both. All stages that
	 * are derived from the caller's future share one receipt.
	 */
	static final class Receipt {

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

}
