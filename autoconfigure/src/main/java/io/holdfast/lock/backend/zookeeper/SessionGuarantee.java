package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * How long the ensemble keeps the session, as far as its answers prove it.
 *
 * <p>
 * A session ends when the leader has not heard of it for the session timeout. A request
 * to a follower is noted by that follower only; the leader learns of it with the
 * follower's reply to the next ping, which the leader sends several times in each session
 * timeout. So an answer proves nothing of its own request: if the follower dies right
 * after it, the leader never learns of that request.
 *
 * <p>
 * Pings, their replies, requests and answers travel between the two in order. A
 * <em>touch</em>, which is an answered request, therefore counts from when these have
 * followed it: a request that was sent a ping interval after its answer, so that the
 * leader has sent a ping before it answers this one; another, in case the leader stood
 * still when the ping was due; and a last one that was sent after that and that a
 * majority has confirmed, so that the leader has read the reply to the ping and is the
 * leader still. If the connection broke meanwhile, the client has reconnected, and the
 * leader hears of each reconnection itself. So a request that failed because the
 * connection was broken needs only the last of these.
 */
final class SessionGuarantee {

	/**
	 * A ping comes every half tick, and no session timeout is shorter than two ticks.
	 */
	private static final int PINGS_PER_TIMEOUT = 4;

	/** Five in a ping interval, whatever time their answers take. */
	private static final int HEARTBEATS_PER_TIMEOUT = 18;

	/** How long a leader that stood still may need to send the ping that is due. */
	private static final int SETTLING_SHARE = 64;

	/** A guarantee for less than this part of the session timeout is none. */
	private static final int LEAST_SHARE = 8;

	/** The allowance for clocks that do not run at the same speed. */
	private static final int DRIFT_SHARE = 50;

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

	private final SchedulingClock clock;

	/** Touches that are not proven yet, the oldest first. */
	private final Deque<Touch> touches = new ArrayDeque<>();

	private long session;

	/** When the session was seen last, or had not begun. */
	private long seenAt;

	/** The leader has heard of the session at this time, or later. */
	private long provenAt;

	/**
	 * Creates a guarantee.
	 * @param clock the source of time
	 * @param notBefore when the session had not begun yet, on that clock
	 */
	SessionGuarantee(SchedulingClock clock, long notBefore) {
		this.clock = clock;
		this.seenAt = notBefore;
		this.provenAt = notBefore;
	}

	/**
	 * Notes which session the client has. One that follows another begins after the last
	 * time the other was seen.
	 * @param id the session
	 * @param now the time just before it was looked up
	 */
	synchronized void seen(long id, long now) {
		if (id == ZooKeeperCalls.UNKNOWN_SESSION) {
			return;
		}
		if (id != this.session) {
			this.session = id;
			this.provenAt = this.seenAt;
			this.touches.clear();
		}
		this.seenAt = now;
	}

	/**
	 * Notes an answer of the leader.
	 * @param id the session in which the request was sent and answered
	 * @param sentAt when it was sent
	 * @param timeout the session timeout
	 * @param committed whether a majority has confirmed it
	 */
	synchronized void answered(long id, long sentAt, Duration timeout, boolean committed) {
		if (id != this.session) {
			return;
		}
		long now = this.clock.nanos();
		for (Touch touch : this.touches) {
			touch.followed(sentAt, now, timeout.toNanos() / SETTLING_SHARE, committed);
		}
		forgetWhatProvesLess();
		Touch last = this.touches.peekLast();
		if (last == null || sentAt - last.sentAt >= timeout.toNanos() / HEARTBEATS_PER_TIMEOUT / 2) {
			this.touches.add(new Touch(sentAt, now + timeout.toNanos() / PINGS_PER_TIMEOUT));
		}
	}

	/**
	 * Notes that there was no connection at some time after a request was sent, so that a
	 * later answer comes by a connection that began after that time.
	 * @param id the session in which the request was sent
	 * @param sentAt when it was sent
	 */
	synchronized void disconnected(long id, long sentAt) {
		if (id == this.session) {
			Touch reconnection = new Touch(sentAt, this.clock.nanos());
			reconnection.stage = Touch.REPLIED;
			this.touches.add(reconnection);
			forgetWhatProvesLess();
		}
	}

	/**
	 * Of those that lack nothing but the last request, the two latest are enough: one for
	 * a request that is under way, and one for those that follow.
	 */
	private void forgetWhatProvesLess() {
		int replied = 0;
		for (Iterator<Touch> latestFirst = this.touches.descendingIterator(); latestFirst.hasNext();) {
			Touch touch = latestFirst.next();
			if (touch.stage == Touch.PROVEN) {
				this.provenAt = Math.max(this.provenAt, touch.sentAt);
			}
			replied += (touch.stage >= Touch.REPLIED) ? 1 : 0;
			if (replied > 2 || touch.sentAt <= this.provenAt) {
				latestFirst.remove();
			}
		}
	}

	/**
	 * How long the session is kept.
	 * @param from when to count from
	 * @param timeout the session timeout
	 * @return the time, or {@code null} if next to nothing is proven
	 */
	synchronized @Nullable Duration lasts(long from, Duration timeout) {
		long age = from - this.provenAt;
		Duration lasts = timeout.minusNanos(age + Math.max(0, age) / DRIFT_SHARE);
		if (lasts.compareTo(timeout) > 0) {
			return timeout;
		}
		return (lasts.compareTo(timeout.dividedBy(LEAST_SHARE)) < 0) ? null : lasts;
	}

	/** How long to wait before the next heartbeat; less while little is proven. */
	Duration pause(Duration timeout) {
		Duration lasts = lasts(this.clock.nanos(), timeout);
		boolean fresh = lasts != null && lasts.compareTo(timeout.dividedBy(2)) >= 0;
		Duration pause = timeout.dividedBy(fresh ? HEARTBEATS_PER_TIMEOUT : SETTLING_SHARE);
		return (pause.compareTo(SHORTEST_PAUSE) < 0) ? SHORTEST_PAUSE : pause;
	}

	/**
	 * An answered request.
	 */
	private static final class Touch {

		/** The leader has sent a ping, unless it stood still. */
		static final int PINGED = 1;

		/** The follower has replied to a ping. */
		static final int REPLIED = 2;

		/** The leader has read the reply. */
		static final int PROVEN = 3;

		final long sentAt;

		/** A request that counts is sent at this time or later. */
		private long next;

		private int stage;

		Touch(long sentAt, long next) {
			this.sentAt = sentAt;
			this.next = next;
		}

		void followed(long sentAt, long answeredAt, long settling, boolean committed) {
			if (sentAt < this.next || this.stage == REPLIED && !committed) {
				return;
			}
			this.stage++;
			this.next = (this.stage == PINGED) ? answeredAt + settling : answeredAt;
		}

	}

}
