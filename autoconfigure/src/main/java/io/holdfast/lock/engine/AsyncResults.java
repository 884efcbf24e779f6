package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;

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
	 * @param held the hold, or the failure to acquire it
	 * @param value creates the caller's value from the hold, or from {@code null} if the
	 * lock was skipped
	 * @param callbacks runs the stages that the caller derives from its future
	 */
	static <T> CompletionStage<T> deliver(CompletableFuture<HeldLocks> held,
			Function<? super @Nullable HeldLocks, ? extends T> value, Executor callbacks) {
		Receipt receipt = new Receipt(() -> held.thenAccept(HeldLocks::closeAsync));
		WithdrawableFuture<T> result = new WithdrawableFuture<>(() -> {
			held.cancel(false);
			receipt.release();
		}, receipt);
		held.whenCompleteAsync((locks, failure) -> {
			if (failure != null && !(failure instanceof LockSkippedException)) {
				result.settle(null, failure);
				return;
			}
			T delivered = value.apply(locks);
			if (locks != null) {
				receipt.granted(delivered);
			}
			result.settle(delivered, null);
		}, unlessRefused(held, callbacks));
		return result;
	}

	/**
	 * Runs an action under a hold, unless the caller has already completed the result.
	 * @param held the hold, or the failure to acquire it
	 * @param action the action
	 * @param callbacks runs the action
	 */
	static <T extends @Nullable Object> CompletionStage<T> execute(CompletableFuture<HeldLocks> held,
			Function<LockHandle, CompletionStage<T>> action, Executor callbacks) {
		WithdrawableFuture<T> result = new WithdrawableFuture<>(() -> held.cancel(false), new Receipt(() -> {
		}));
		held.whenCompleteAsync((locks, failure) -> {
			if (failure != null) {
				result.settle(null, failure);
			}
			else if (result.isDone()) {
				locks.closeAsync();
			}
			else {
				closeAfter(run(action, locks), locks).whenComplete(result::settle);
			}
		}, unlessRefused(held, callbacks));
		return result;
	}

	private static <T extends @Nullable Object> CompletionStage<T> run(Function<LockHandle, CompletionStage<T>> action,
			HeldLocks locks) {
		return StoreResponses.ask(() -> action.apply(locks), () -> new LockConfigurationException(
				"The asynchronous action under lock '%s' returned null instead of a stage, so its completion cannot be awaited. The lock is released. Return CompletableFuture.completedFuture(null) if there is no result."
					.formatted(locks.lock())));
	}

	/** Uses no other thread for a request that fails before its caller has a future. */
	private static Executor unlessRefused(CompletableFuture<HeldLocks> held, Executor callbacks) {
		return held.isCompletedExceptionally() ? Runnable::run : callbacks;
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

}
