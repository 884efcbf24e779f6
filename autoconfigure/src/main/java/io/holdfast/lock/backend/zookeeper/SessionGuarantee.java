package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Computes how long the ensemble is proven to keep the session.
 *
 * <p>
 * A session expires when the leader has not heard from it for the session timeout. A
 * follower records the requests that it receives, and the leader learns of them only with
 * the follower's reply to the next ping. The leader sends several pings in each session
 * timeout. A response therefore proves nothing about its own request: if the follower
 * dies right after it, the leader never learns of that request.
 *
 * <p>
 * Pings, their replies, requests, and responses travel in order between leader and
 * follower. An answered request is called a <em>touch</em>. Once three later requests
 * have been answered, a touch proves that the leader heard from the session when the
 * touch was sent, or later. The first of the three is sent at least a ping interval after
 * the response to the touch. The leader therefore sends a ping before it answers that
 * request. The second covers a leader that was paused when the ping was due. The third is
 * sent after the response to the second and is confirmed by a majority. Its response
 * proves that the leader has read the reply to the ping and is still the leader.
 *
 * <p>
 * If the connection breaks meanwhile, the client reconnects, and each reconnection is
 * reported to the leader at once. A request that failed because the connection was broken
 * therefore needs only the third request.
 */
final class SessionGuarantee {

	/** The leader pings every half tick, and a session timeout is at least two ticks. */
	private static final int PINGS_PER_TIMEOUT = 4;

	/** Four to five heartbeats in each ping interval, whatever their response times. */
	private static final int HEARTBEATS_PER_TIMEOUT = 18;

	/**
	 * A leader that was paused sends a ping that is due within this fraction of the
	 * session timeout.
	 */
	private static final int SETTLING_SHARE = 64;

	/** A guarantee shorter than this fraction of the session timeout counts as none. */
	private static final int LEAST_SHARE = 8;

	/** The allowance for clock drift, as a fraction of the elapsed time. */
	private static final int DRIFT_SHARE = 50;

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

	private final SchedulingClock clock;

	/** Touches that are not proven yet, oldest first. */
	private final Deque<Touch> touches = new ArrayDeque<>();

	private long session;

	/** When the session was last seen, or a time before it started. */
	private long seenAt;

	/** The leader has heard from the session at this time or later. */
	private long provenAt;

	/**
	 * Creates a guarantee.
	 * @param clock the source of time
	 * @param notBefore the earliest time at which the session can have started, on that
	 * clock
	 */
	SessionGuarantee(SchedulingClock clock, long notBefore) {
		this.clock = clock;
		this.seenAt = notBefore;
		this.provenAt = notBefore;
	}

	/**
	 * Records the client's current session. A session that follows another one started
	 * after the other was last seen. While a session is being started, the leader may
	 * have created it already. A thread that was not scheduled may be late.
	 * @param id the session
	 * @param now the time just before the session was looked up
	 */
	synchronized void seen(long id, long now) {
		if (!ZooKeeperCalls.isStarted(id) || now - this.seenAt < 0) {
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
	 * Records a response of the leader.
	 * @param id the session in which the request was sent and answered
	 * @param sentAt when the request was sent
	 * @param timeout the session timeout
	 * @param committed whether a majority has confirmed the request
	 */
	synchronized void answered(long id, long sentAt, Duration timeout, boolean committed) {
		if (id != this.session) {
			return;
		}
		long now = this.clock.nanos();
		for (Touch touch : this.touches) {
			touch.followed(sentAt, now, timeout.toNanos() / SETTLING_SHARE, committed);
		}
		discardObsoleteTouches();
		Touch last = this.touches.peekLast();
		if (last == null || sentAt - last.sentAt >= timeout.toNanos() / HEARTBEATS_PER_TIMEOUT / 2) {
			this.touches.add(new Touch(sentAt, now + timeout.toNanos() / PINGS_PER_TIMEOUT));
		}
	}

	/**
	 * Records that the connection was down at some time after a request was sent. A later
	 * response therefore arrives on a connection that was established after that time.
	 * @param id the session in which the request was sent
	 * @param sentAt when the request was sent
	 */
	synchronized void disconnected(long id, long sentAt) {
		if (id == this.session) {
			Touch reconnection = new Touch(sentAt, this.clock.nanos());
			reconnection.stage = Touch.REPLIED;
			this.touches.add(reconnection);
			discardObsoleteTouches();
		}
	}

	/**
	 * Advances the proven time and removes touches that cannot advance it further. Of the
	 * touches that lack only the last request, the two latest are enough: one for a
	 * request under way, and one for later requests.
	 */
	private void discardObsoleteTouches() {
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
	 * Returns how long a session is proven to last.
	 * @param id the session
	 * @param from the time to count from
	 * @param timeout the session timeout
	 * @return the duration, or {@code null} if next to nothing is proven
	 */
	synchronized @Nullable Duration remaining(long id, long from, Duration timeout) {
		return (id == this.session) ? remaining(from, timeout) : null;
	}

	private @Nullable Duration remaining(long from, Duration timeout) {
		long age = from - this.provenAt;
		Duration remaining = timeout.minusNanos(age + Math.max(0, age) / DRIFT_SHARE);
		if (remaining.compareTo(timeout) > 0) {
			return timeout;
		}
		return (remaining.compareTo(timeout.dividedBy(LEAST_SHARE)) < 0) ? null : remaining;
	}

	/** Whether the session is proven to last for half of its timeout. */
	synchronized boolean isFresh(Duration timeout) {
		Duration remaining = remaining(this.clock.nanos(), timeout);
		return remaining != null && remaining.compareTo(timeout.dividedBy(2)) >= 0;
	}

	/**
	 * Returns the delay before the next heartbeat, which is shorter while little is
	 * proven.
	 */
	synchronized Duration pause(Duration timeout) {
		Duration pause = timeout.dividedBy(isFresh(timeout) ? HEARTBEATS_PER_TIMEOUT : SETTLING_SHARE);
		return (pause.compareTo(SHORTEST_PAUSE) < 0) ? SHORTEST_PAUSE : pause;
	}

	/**
	 * An answered request.
	 */
	private static final class Touch {

		/** The leader has sent a ping, unless it was paused. */
		static final int PINGED = 1;

		/** The follower has replied to a ping. */
		static final int REPLIED = 2;

		/** The leader has read the reply. */
		static final int PROVEN = 3;

		final long sentAt;

		/** A request counts if it is sent at this time or later. */
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
