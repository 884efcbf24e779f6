package io.holdfast.lock;

import java.time.Duration;

/**
 * Reports that an acquisition has ended without the lock. Published to the application's
 * event listeners, on a separate thread, if there is one for this type.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param outcome why: {@code timeout}, {@code skipped}, {@code interrupted} or
 * {@code error}, as in the meter {@code distributed.lock.acquire}
 * @param waited the duration of the acquisition
 */
public record LockNotAcquiredEvent(LockName lock, String backend, String outcome, Duration waited) {

}
