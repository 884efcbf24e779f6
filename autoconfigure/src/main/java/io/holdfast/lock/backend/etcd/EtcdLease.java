package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * One lease at etcd, and how long it lasts at least by what this JVM knows.
 *
 * <p>
 * Each renewal is a request of its own with a deadline and an answer. On a stream that is
 * kept open for them, one that has ended in silence would look like one that has nothing
 * to say.
 */
final class EtcdLease {

	/**
	 * etcd makes a lease no shorter than one and a half times of what it waits for a
	 * leader, which is 50 s at most.
	 */
	private static final long LONGEST_MINIMUM_SECONDS = 75;

	private final EtcdCalls calls;

	private final SchedulingClock clock;

	private final long id;

	private final AtomicReference<@Nullable CompletableFuture<EtcdLease>> renewal = new AtomicReference<>();

	private volatile Term term;

	private volatile boolean ended;

	private EtcdLease(EtcdCalls calls, SchedulingClock clock, long id, Term term) {
		this.calls = calls;
		this.clock = clock;
		this.id = id;
		this.term = term;
	}

	/** Ask for a new lease; etcd may grant a longer one. */
	static CompletableFuture<EtcdLease> grant(EtcdCalls calls, SchedulingClock clock, long seconds) {
		long start = clock.nanos();
		return calls.grantLease(seconds)
			.thenApply(
					(granted) -> new EtcdLease(calls, clock, granted.id(), Term.of(start, granted.seconds(), seconds)));
	}

	/** A duration in the unit of leases, rounded up. */
	static long seconds(Duration length) {
		return Math.max(1, length.plusSeconds(1).minusNanos(1).toSeconds());
	}

	long id() {
		return this.id;
	}

	Duration length() {
		return this.term.length();
	}

	/** Whether etcd has said that it is over. Without its word nothing is known. */
	boolean hasEnded() {
		return this.ended;
	}

	void end() {
		this.ended = true;
	}

	/** How long it lasts from a moment on, at most its length. */
	Duration lastsFrom(long moment) {
		Term present = this.term;
		long gone = Math.max(0, moment - present.since());
		Duration left = present.length().minusNanos(gone);
		return left.isNegative() ? Duration.ZERO : left;
	}

	/** This lease with at least half of its time ahead. */
	CompletableFuture<EtcdLease> fresh() {
		boolean halfAhead = lastsFrom(this.clock.nanos()).compareTo(length().dividedBy(2)) > 0;
		return (halfAhead && !this.ended) ? CompletableFuture.completedFuture(this) : renewed();
	}

	/** This lease, started anew; several who want that share one request. */
	CompletableFuture<EtcdLease> renewed() {
		CompletableFuture<EtcdLease> mine = new CompletableFuture<>();
		CompletableFuture<EtcdLease> present = this.renewal.compareAndExchange(null, mine);
		if (present != null) {
			return present;
		}
		long start = this.clock.nanos();
		this.calls.keepAlive(this.id)
			.thenApply((seconds) -> Term.of(start, Math.min(seconds, length().toSeconds()), length().toSeconds()))
			.whenComplete((renewed, failure) -> {
				this.renewal.set(null);
				if (failure == null) {
					this.term = renewed;
					mine.complete(this);
				}
				else {
					this.ended |= EtcdFailures.isLeaseGone(failure);
					mine.completeExceptionally(failure);
				}
			});
		return mine;
	}

	/** Ends the lease and every key that lives with it, if it is not over already. */
	CompletableFuture<Void> revoke() {
		return this.calls.revoke(this.id).handle((done, failure) -> {
			if (failure == null || EtcdFailures.isLeaseGone(failure)) {
				this.ended = true;
				return CompletableFuture.<Void>completedFuture(null);
			}
			return CompletableFuture.<Void>failedFuture(failure);
		}).thenCompose((answer) -> answer);
	}

	/**
	 * How long etcd keeps the lease.
	 *
	 * @param since the monotonic time before it was asked for
	 * @param length how long from when etcd received that
	 */
	private record Term(long since, Duration length) {

		/**
		 * The term that etcd names, if it has sense: etcd has been seen to name nearly
		 * three hundred years.
		 */
		static Term of(long since, long seconds, long asked) {
			if (seconds <= 0) {
				throw new IllegalStateException("etcd names a time without sense for a lease: " + seconds + " s");
			}
			boolean possible = seconds <= Math.max(asked, LONGEST_MINIMUM_SECONDS);
			return new Term(since, Duration.ofSeconds(possible ? seconds : asked));
		}

	}

}
