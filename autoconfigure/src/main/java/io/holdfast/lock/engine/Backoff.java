package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Timeouts and retry delays of an acquisition, in nanoseconds.
 */
final class Backoff {

	/** Minimum timeout of a later attempt, even if the wait ends earlier. */
	private static final long MIN_TIMEOUT = TimeUnit.MILLISECONDS.toNanos(200);

	private static final long FIRST_AFTER_SILENCE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_AFTER_SILENCE = TimeUnit.SECONDS.toNanos(1);

	private static final int DOUBLINGS = 10;

	private static final int JITTER_SHARE = 4;

	private static final long LEAST_AFTER_DEMAND = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_AFTER_DEMAND = TimeUnit.MILLISECONDS.toNanos(200);

	private static final int ROUND_TRIPS_AFTER_DEMAND = 4;

	private Backoff() {
	}

	/**
	 * Returns how long to wait for a response. The first attempt has the full timeout
	 * even if the wait is shorter. Otherwise a short wait would succeed less often than
	 * none. Later attempts exceed the wait only slightly. A blocking backend ends its
	 * attempts itself, so they are not given up before the deadline. Nor is an attempt
	 * that is not sent yet.
	 */
	static long forResponse(ResolvedRequest request, int attempt, boolean sent, long left, EngineSettings settings) {
		long timeout = settings.responseTimeout().toNanos();
		if (!sent || request.backend().capabilities().has(Capability.BLOCKING)) {
			return Math.max(left, (attempt == 1) ? timeout : MIN_TIMEOUT);
		}
		return (attempt == 1) ? timeout : Math.min(timeout, Math.max(left, MIN_TIMEOUT));
	}

	/**
	 * Returns how long to wait for admission in this JVM. A caller that does not wait for
	 * holders still waits for a release in progress.
	 */
	static long forAdmission(ResolvedRequest request, long left, Duration responseTimeout) {
		return request.waits() ? left : responseTimeout.toNanos();
	}

	/**
	 * Returns how long a caller waits for the response to the release of another one.
	 */
	static long forRelease(ResolvedRequest request, long left, Duration responseTimeout) {
		long timeout = responseTimeout.toNanos();
		return request.waits() ? Math.min(left, timeout) : timeout;
	}

	/**
	 * Returns how long a caller that does not wait for holders waits for another instance
	 * to release an idle lease: four times what the rejection has taken, between 20 and
	 * 200 ms. A hold in that instance keeps the lock, and so does a paused instance.
	 * @param elapsed the time from the request to the rejection
	 */
	static long forDemand(long elapsed) {
		return Math.min(LONGEST_AFTER_DEMAND, Math.max(LEAST_AFTER_DEMAND, ROUND_TRIPS_AFTER_DEMAND * elapsed));
	}

	/**
	 * Returns the delay after a rejection: the delay that the store advised, plus up to a
	 * quarter of it as jitter, so that instances do not retry in step.
	 */
	static long afterRefusal(Duration advised, SchedulingClock time) {
		long pause = Math.max(1, advised.toNanos());
		return pause + time.jitter(pause / JITTER_SHARE + 1);
	}

	/**
	 * Returns the delay after an attempt of unknown outcome. It doubles from 20 ms up to
	 * one second, and jitter spreads it from one half to one and a half of that.
	 */
	static long afterUnknownOutcome(int times, SchedulingClock time) {
		long pause = Math.min(LONGEST_AFTER_SILENCE, FIRST_AFTER_SILENCE << Math.min(times, DOUBLINGS));
		return pause / 2 + time.jitter(pause);
	}

}
