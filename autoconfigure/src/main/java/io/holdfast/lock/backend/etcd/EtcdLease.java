package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SharedRequest;

/**
 * A lease at etcd, and the minimum time that it lasts as far as this JVM knows.
 *
 * <p>
 * Each renewal is a request of its own with a deadline and a response. A long-lived
 * stream of renewals that has ended silently would look like one with nothing to report.
 */
final class EtcdLease {

	/**
	 * etcd's longest minimum lease: one and a half times its election timeout, which is
	 * at most 50 s.
	 */
	private static final long LONGEST_MINIMUM_SECONDS = 75;

	private final EtcdCalls calls;

	private final SchedulingClock clock;

	private final long id;

	private final SharedRequest<EtcdLease> renewal = new SharedRequest<>();

	private volatile Term term;

	private volatile boolean ended;

	private EtcdLease(EtcdCalls calls, SchedulingClock clock, long id, Term term) {
		this.calls = calls;
		this.clock = clock;
		this.id = id;
		this.term = term;
	}

	/** Requests a new lease; etcd may grant a longer one. */
	static CompletableFuture<EtcdLease> grant(EtcdCalls calls, SchedulingClock clock, long seconds) {
		long start = clock.nanos();
		return calls.grantLease(seconds)
			.thenApply(
					(granted) -> new EtcdLease(calls, clock, granted.id(), Term.of(start, granted.seconds(), seconds)));
	}

	/**
	 * Converts a duration to whole seconds, the unit of leases, rounded up; at least 1.
	 */
	static long seconds(Duration length) {
		return Math.max(1, length.plusSeconds(1).minusNanos(1).toSeconds());
	}

	long id() {
		return this.id;
	}

	Duration length() {
		return this.term.length();
	}

	/**
	 * Whether etcd has reported that the lease has ended. Without that report, its state
	 * is unknown.
	 */
	boolean hasEnded() {
		return this.ended;
	}

	void end() {
		this.ended = true;
	}

	/** Returns how long the lease lasts from a given time, at most its length. */
	Duration lastsFrom(long moment) {
		Term present = this.term;
		long gone = Math.max(0, moment - present.since());
		Duration left = present.length().minusNanos(gone);
		return left.isNegative() ? Duration.ZERO : left;
	}

	/**
	 * Returns this lease with at least half of its time remaining, renewed if necessary.
	 */
	CompletableFuture<EtcdLease> fresh() {
		boolean halfAhead = lastsFrom(this.clock.nanos()).compareTo(length().dividedBy(2)) > 0;
		return (halfAhead && !this.ended) ? CompletableFuture.completedFuture(this) : renewed();
	}

	/** Renews this lease. Concurrent callers share one request. */
	CompletableFuture<EtcdLease> renewed() {
		return this.renewal.send(() -> renewed(this.clock.nanos(), this.calls.term()));
	}

	/**
	 * Renews this lease like {@link #renewed()}, together with another request.
	 * @param start the time before that request was sent
	 * @param term the term of the leader, with which it was answered
	 */
	CompletableFuture<EtcdLease> renewedWith(long start, CompletableFuture<Long> term) {
		return this.renewal.send(() -> renewed(start, term));
	}

	private CompletableFuture<EtcdLease> renewed(long start, CompletableFuture<Long> term) {
		return this.calls.keepAlive(this.id, term).thenApply((seconds) -> {
			this.term = Term.of(start, Math.min(seconds, length().toSeconds()), length().toSeconds());
			return this;
		}).whenComplete((renewed, failure) -> {
			if (failure != null && EtcdErrors.isLeaseGone(failure)) {
				this.ended = true;
			}
		});
	}

	/**
	 * Revokes the lease and deletes every key attached to it, if it has not ended
	 * already.
	 */
	CompletableFuture<Void> revoke() {
		return this.calls.revoke(this.id).handle((done, failure) -> {
			if (failure == null || EtcdErrors.isLeaseGone(failure)) {
				this.ended = true;
				return CompletableFuture.<Void>completedFuture(null);
			}
			return CompletableFuture.<Void>failedFuture(failure);
		}).thenCompose((answer) -> answer);
	}

	/**
	 * How long etcd keeps the lease.
	 *
	 * @param since the monotonic time before the request
	 * @param length the duration from when etcd received the request
	 */
	private record Term(long since, Duration length) {

		/**
		 * Returns the term that etcd reports, or the requested one if the report is
		 * implausible: etcd has been seen to report nearly 300 years.
		 */
		static Term of(long since, long seconds, long asked) {
			if (seconds <= 0) {
				throw new IllegalStateException("etcd reports an invalid lease duration: " + seconds + "s");
			}
			boolean possible = seconds <= Math.max(asked, LONGEST_MINIMUM_SECONDS);
			return new Term(since, Duration.ofSeconds(possible ? seconds : asked));
		}

	}

}
