package io.holdfast.lock;

/**
 * Says that a hold ended before its holder let go: from this moment another may hold the
 * lock. Published to the application's event listeners and given to
 * {@link LockHandle#onLost}.
 *
 * @param lock the lock
 * @param backend the store, such as {@code redis}
 * @param token the token of the hold that was lost
 * @param cause why it was lost
 */
public record LockLostEvent(LockName lock, String backend, FencingToken token, LossCause cause) {

}
