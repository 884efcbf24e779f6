package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.support.SchedulingClock;

/**
 * How long an acquisition waits for what: for an answer, before it asks again after a
 * refusal, and after silence. All in nanoseconds.
 */
final class Backoff {

	/** The least time that a later attempt has, even if the wait ends before. */
	private static final long SHORTEST_PATIENCE = TimeUnit.MILLISECONDS.toNanos(200);

	private static final long FIRST_AFTER_SILENCE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_AFTER_SILENCE = TimeUnit.SECONDS.toNanos(1);

	private static final int DOUBLINGS = 10;

	private static final int JITTER_SHARE = 4;

	private Backoff() {
	}

	/**
	 * How long to wait for an answer. The first attempt has the full timeout however
	 * short the wait is, so that a caller that waits a little does not succeed less often
	 * than one that does not wait. Later attempts overrun the wait only slightly. A store
	 * that blocks ends its attempts itself, so none is given up before the deadline; nor
	 * is one that is not sent yet.
	 */
	static long forAnswer(ResolvedRequest terms, int attempt, boolean sent, long left, EngineSettings settings) {
		long timeout = settings.responseTimeout().toNanos();
		if (!sent || terms.backend().capabilities().blocking()) {
			return Math.max(left, (attempt == 1) ? timeout : SHORTEST_PATIENCE);
		}
		return (attempt == 1) ? timeout : Math.min(timeout, Math.max(left, SHORTEST_PATIENCE));
	}

	/**
	 * How long to wait for the turn in this JVM. A caller that waits for no holder still
	 * waits for a release that is under way.
	 */
	static long forTurn(ResolvedRequest terms, long left, Duration responseTimeout) {
		return terms.patient() ? left : responseTimeout.toNanos();
	}

	/**
	 * After a refusal: what the store advised, and up to a quarter more, so that
	 * instances do not ask in step.
	 */
	static long afterRefusal(Duration advised, SchedulingClock time) {
		long pause = Math.max(1, advised.toNanos());
		return pause + time.jitter(pause / JITTER_SHARE + 1);
	}

	/**
	 * After an attempt of unknown outcome: doubling, and spread over half to one and a
	 * half of itself.
	 */
	static long afterSilence(int times, SchedulingClock time) {
		long pause = Math.min(LONGEST_AFTER_SILENCE, FIRST_AFTER_SILENCE << Math.min(times, DOUBLINGS));
		return pause / 2 + time.jitter(pause);
	}

}
