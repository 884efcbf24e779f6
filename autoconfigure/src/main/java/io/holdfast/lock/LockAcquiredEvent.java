package io.holdfast.lock;

import java.time.Duration;

/**
 * Reports that a lock was acquired and its hold has started. Published to the
 * application's event listeners, on a separate thread, if there is one for this type.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param token the fencing token of the hold
 * @param waited the duration of the acquisition
 */
public record LockAcquiredEvent(LockName lock, String backend, FencingToken token, Duration waited) {

}
