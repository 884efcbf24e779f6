package io.holdfast.lock;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Acquires locks in code: the programmatic twin of {@link DistributedLock}.
 *
 * <p>
 * {@code acquire} throws when the lock is not to be had, {@code tryAcquire} returns
 * empty, and {@code execute} holds the lock around a callback. All three wait at most the
 * request's {@code waitTime}. A hold that was acquired by a blocking method is re-entrant
 * on its thread; one acquired by an {@code Async} method belongs to its handle alone.
 *
 * <p>
 * Thread-safe. Every method throws {@link LockConfigurationException} for a request that
 * can never be granted and {@link LockBackendException} when the store fails.
 */
public interface LockOperations {

	/**
	 * Acquire a lock, waiting for it if need be. Close the handle to let go.
	 * @param request which lock, and how
	 * @return the hold
	 * @throws LockNotAcquiredException if another held it for the whole {@code waitTime},
	 * or the thread was interrupted while waiting; its interrupt flag is then set
	 */
	LockHandle acquire(LockRequest request);

	/**
	 * Acquire a lock if it is free. Waits only if the request has a {@code waitTime}; the
	 * property {@code distributed-lock.wait-time} does not apply.
	 * @param request which lock, and how
	 * @return the hold, or empty if another held it, for the whole {@code waitTime} if
	 * there is one
	 */
	Optional<LockHandle> tryAcquire(LockRequest request);

	/**
	 * Run an action while a lock is held.
	 * @param request which lock, and how
	 * @param action what to run
	 * @param <T> what it returns
	 * @param <E> what it throws
	 * @return what the action returned
	 * @throws E if the action does
	 * @throws LockNotAcquiredException as {@link #acquire}; the action did not run
	 * @throws LockLostException if the lease was lost while the action ran and no commit
	 * had confirmed its work before
	 */
	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedAction<T, E> action)
			throws E;

	/**
	 * Run an action while a lock is held, or another one instead if the lock is not to be
	 * had.
	 * @param request which lock, and how
	 * @param action what to run
	 * @param otherwise what to run without the lock, if another held it for the whole
	 * {@code waitTime}
	 * @param <T> what both return
	 * @param <E> what both throw
	 * @return what was returned by the one that ran
	 * @throws E if the one that ran does
	 * @throws LockLostException as {@link #execute}
	 */
	<T extends @Nullable Object, E extends Throwable> T executeOrElse(LockRequest request, LockedAction<T, E> action,
			UnlockedAction<T, E> otherwise) throws E;

	/**
	 * Acquire a lock without blocking the caller. Refused inside a transaction, which
	 * could not keep the lock until it has completed, unless
	 * {@code distributed-lock.transaction.when-active} is {@code allow}; so are the other
	 * asynchronous methods.
	 * @param request which lock, and how
	 * @return the hold, or fails as {@link #acquire} does. Completing its
	 * {@link CompletionStage#toCompletableFuture() future} in any way, such as by
	 * {@code cancel} or {@code orTimeout}, withdraws the claim, and releases a lock that
	 * is granted at the same moment. So does completing the only stage that is derived
	 * from it, unless its function has begun. What is derived from it runs on a thread of
	 * its own and may block
	 */
	CompletionStage<LockHandle> acquireAsync(LockRequest request);

	/**
	 * Acquire a lock if it is free, without blocking the caller. Waits as
	 * {@link #tryAcquire} does.
	 * @param request which lock, and how
	 * @return the hold, or empty if another held it. Can be withdrawn as that of
	 * {@link #acquireAsync}
	 */
	CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request);

	/**
	 * Run an asynchronous action while a lock is held: until the stage that it returns
	 * has completed.
	 * @param request which lock, and how
	 * @param action what to run; if it returns {@code null} instead of a stage, the
	 * result fails and the lock is released
	 * @param <T> what it returns
	 * @return what the action's stage completed with, or fails as {@link #execute} does.
	 * Completing its future while the lock is waited for withdraws the claim, and the
	 * action does not run. Once the action runs, the lock is kept until its stage has
	 * completed, which completing the future does not do. The action runs on a thread of
	 * its own and may block
	 */
	<T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action);

}
