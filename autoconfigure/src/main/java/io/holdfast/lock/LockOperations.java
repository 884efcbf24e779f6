package io.holdfast.lock;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Acquires locks in code; the programmatic counterpart of {@link DistributedLock}.
 *
 * <p>
 * {@code acquire} throws an exception if the lock is not available, {@code tryAcquire}
 * returns an empty result, and {@code execute} holds the lock around a callback. All
 * three wait at most the request's {@code waitTime}. A hold acquired by a blocking method
 * is reentrant on its thread. A hold acquired by an {@code Async} method belongs only to
 * its handle.
 *
 * <p>
 * Thread-safe. Every method throws {@link LockConfigurationException} for a request that
 * can never be granted and {@link LockBackendException} when the store fails.
 */
public interface LockOperations {

	/**
	 * Acquires a lock, waiting for it if necessary. Close the handle to release the lock.
	 * @param request the lock and its settings
	 * @return the hold
	 * @throws LockNotAcquiredException if another holder kept the lock for the whole
	 * {@code waitTime}, if the application is stopping, or if the thread was interrupted
	 * while waiting; its interrupt flag is then set
	 */
	LockHandle acquire(LockRequest request);

	/**
	 * Acquires a lock if it is available. Waits only if the request has a
	 * {@code waitTime}; the property {@code distributed-lock.wait-time} does not apply.
	 * @param request the lock and its settings
	 * @return the hold, or empty if another holder had the lock, for the whole
	 * {@code waitTime} if there is one
	 */
	Optional<LockHandle> tryAcquire(LockRequest request);

	/**
	 * Runs an action while holding a lock.
	 * @param request the lock and its settings
	 * @param action the action to run
	 * @param <T> the type of the result
	 * @param <E> the type of the exception that the action throws
	 * @return the result of the action
	 * @throws E if the action throws it
	 * @throws LockNotAcquiredException as {@link #acquire}; the action did not run
	 * @throws LockLostException if the lease was lost while the action ran and no commit
	 * had confirmed its work before
	 */
	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedAction<T, E> action)
			throws E;

	/**
	 * Runs an action while holding a lock, or another action if the lock is not
	 * available.
	 * @param request the lock and its settings
	 * @param action the action to run
	 * @param otherwise the action to run without the lock if another holder had it for
	 * the whole {@code waitTime}
	 * @param <T> the type of both results
	 * @param <E> the type of the exception that both actions throw
	 * @return the result of the action that ran
	 * @throws E if the action that ran throws it
	 * @throws LockLostException as {@link #execute}
	 */
	<T extends @Nullable Object, E extends Throwable> T executeOrElse(LockRequest request, LockedAction<T, E> action,
			UnlockedAction<T, E> otherwise) throws E;

	/**
	 * Acquires a lock without blocking the caller. Rejected inside a transaction, which
	 * could not keep the lock until it has completed, unless
	 * {@code distributed-lock.transaction.when-active} is {@code allow}. A reactive
	 * transaction is not noticed: begin it under the lock. The same applies to the other
	 * asynchronous methods.
	 * @param request the lock and its settings
	 * @return a stage that completes with the hold, or fails as {@link #acquire} does. To
	 * withdraw the claim, complete its {@link CompletionStage#toCompletableFuture()
	 * future} in any way, such as by {@code cancel} or {@code orTimeout}. This also
	 * releases a lock that is granted at the same moment. Completing the only stage
	 * derived from it has the same effect, unless its function has started. Dependent
	 * stages run on a thread of their own and may block
	 */
	CompletionStage<LockHandle> acquireAsync(LockRequest request);

	/**
	 * Acquires a lock if it is available, without blocking the caller. Waits as
	 * {@link #tryAcquire} does.
	 * @param request the lock and its settings
	 * @return a stage that completes with the hold, or with an empty result if another
	 * holder had the lock. It can be withdrawn like that of {@link #acquireAsync}
	 */
	CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request);

	/**
	 * Runs an asynchronous action while holding a lock, until the stage that the action
	 * returns has completed.
	 * @param request the lock and its settings
	 * @param action the action to run; if it returns {@code null} instead of a stage, the
	 * result fails and the lock is released
	 * @param <T> the type of the result
	 * @return a stage that completes with the result of the action's stage, or fails as
	 * {@link #execute} does. Completing its future while the request waits for the lock
	 * withdraws the claim, and the action does not run. Once the action runs, the lock is
	 * held until its stage has completed; completing the future does not change that. The
	 * action runs on a thread of its own and may block
	 */
	<T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action);

}
