package io.holdfast.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An acquisition of this instance that is in progress, as it was at the moment of the
 * query.
 *
 * @param lock the lock
 * @param backend the name of the backend
 * @param mode exclusive or shared
 * @param fair whether it was requested in strict order of arrival
 * @param thread the name of the thread that waits, or {@code null} if none does, as in an
 * asynchronous acquisition
 * @param waitedFor the time since the acquisition started
 * @param remainingWait the time until it gives up
 */
public record WaitingAcquisition(LockName lock, String backend, LockMode mode, boolean fair, @Nullable String thread,
		Duration waitedFor, Duration remainingWait) {

}
