package io.holdfast.lock;

/**
 * Reports that a hold was lost before its holder released it. From this moment, another
 * holder may have the lock. Published to the application's event listeners and passed to
 * {@link LockHandle#onLost}.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param token the token of the hold that was lost
 * @param cause the cause of the loss
 */
public record LockLostEvent(LockName lock, String backend, FencingToken token, LossCause cause) {

}
