package io.holdfast.lock;

import java.time.Duration;

/**
 * Reports that a holder has released its hold, even if the hold was lost before.
 * Published to the application's event listeners, on a separate thread, if there is one
 * for this type.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param token the fencing token of the hold
 * @param held the time for which it was held
 */
public record LockReleasedEvent(LockName lock, String backend, FencingToken token, Duration held) {

}
