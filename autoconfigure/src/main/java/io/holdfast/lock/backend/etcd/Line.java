package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.etcd.Transaction.Condition;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Creates the keys of claims in the wait queues of their locks, and deletes them.
 */
final class Line {

	private static final int NAME_LENGTH = 200;

	/** A lease that etcd has ended and an epoch that has passed cost one each. */
	private static final int MOST_ATTEMPTS = 4;

	private final EtcdCalls calls;

	private final Keys keys;

	private final Sessions sessions;

	private final SchedulingClock clock;

	Line(EtcdCalls calls, Keys keys, Sessions sessions, SchedulingClock clock) {
		this.calls = calls;
		this.keys = keys;
		this.sessions = sessions;
		this.clock = clock;
	}

	/**
	 * Creates a claim's key with a lease that has time ahead, and reads its predecessor.
	 * If etcd has ended the lease or the key since they were last used, once more with
	 * new ones.
	 */
	CompletableFuture<Standing> stand(Place place) {
		return attempt(place, 1);
	}

	private CompletableFuture<Standing> attempt(Place place, int number) {
		if (place.isEnded()) {
			return CompletableFuture.failedFuture(new ClaimEndedException());
		}
		EtcdLease lease = place.lease();
		if (lease != null && lease.hasEnded()) {
			place.forgetLease(lease);
		}
		CompletableFuture<Standing> attempt = place.claim.renewed() ? inSession(place) : withOwnLease(place);
		return attempt.exceptionallyCompose((failure) -> {
			Throwable cause = EtcdFailures.cause(failure);
			return (number < MOST_ATTEMPTS && mayRepeat(place, cause)) ? attempt(place, number + 1)
					: CompletableFuture.failedFuture(cause);
		});
	}

	private static boolean mayRepeat(Place place, Throwable cause) {
		if (place.isGranted()) {
			return false;
		}
		if (cause instanceof EtcdCalls.KeyGoneException gone) {
			place.forgetKey(gone.revision());
			return true;
		}
		return cause instanceof EtcdCalls.EpochPassedException || cause instanceof Sessions.SessionOverException
				|| EtcdFailures.isLeaseGone(cause);
	}

	private CompletableFuture<Standing> inSession(Place place) {
		Session present = place.session();
		if (present != null) {
			return inSession(place, present);
		}
		return this.sessions.enter(EtcdLease.seconds(place.claim.leaseTime())).thenCompose((entered) -> {
			if (!place.bind(entered.lease(), entered)) {
				entered.leave();
			}
			Session bound = place.session();
			return (bound != null) ? inSession(place, bound)
					: CompletableFuture.failedFuture(new ClaimEndedException());
		});
	}

	private CompletableFuture<Standing> inSession(Place place, Session session) {
		return session.lease().fresh().thenCompose((lease) -> {
			long epoch = session.epoch();
			return send(place, lease, epoch, Condition.written(session.key(), epoch)).exceptionallyCompose(
					(failure) -> (EtcdFailures.cause(failure) instanceof EtcdCalls.EpochPassedException)
							? session.passed(epoch).thenCompose((done) -> CompletableFuture.failedFuture(failure))
							: CompletableFuture.failedFuture(failure));
		});
	}

	/**
	 * The lease is started anew by each attempt, so that whoever waited has all of it.
	 */
	private CompletableFuture<Standing> withOwnLease(Place place) {
		EtcdLease present = place.lease();
		if (present != null) {
			return present.renewed().thenCombine(send(place, present, 0, null), (renewed, standing) -> standing);
		}
		long seconds = EtcdLease.seconds(place.claim.leaseTime());
		return EtcdLease.grant(this.calls, this.clock, seconds).thenCompose((granted) -> {
			if (!place.bind(granted, null)) {
				granted.revoke();
			}
			EtcdLease bound = place.lease();
			return (bound != null) ? send(place, bound, 0, null)
					: CompletableFuture.failedFuture(new ClaimEndedException());
		});
	}

	private CompletableFuture<Standing> send(Place place, EtcdLease lease, long epoch, @Nullable Condition condition) {
		String rivals = this.keys.rivals(place.claim);
		long revision = place.revision();
		if (revision != 0) {
			return this.calls.look(place.key, revision, rivals);
		}
		if (!place.open(epoch)) {
			return CompletableFuture.failedFuture(new ClaimEndedException());
		}
		String value = LockDigest.readable(place.claim.lock(), NAME_LENGTH);
		return this.calls.stand(place.key, value, lease.id(), rivals, condition).whenComplete((standing, failure) -> {
			if (standing != null) {
				place.stands(standing.revision());
			}
			else if (isAnswer(failure)) {
				place.answered();
			}
			if (failure != null && EtcdFailures.isLeaseGone(failure)) {
				lease.end();
			}
		});
	}

	/** Whether etcd has not created the key, and is not going to. */
	private static boolean isAnswer(Throwable failure) {
		Throwable cause = EtcdFailures.cause(failure);
		return cause instanceof EtcdCalls.KeyGoneException || cause instanceof EtcdCalls.EpochPassedException
				|| EtcdFailures.isLeaseGone(cause) || EtcdFailures.refusal(cause) != null;
	}

	/**
	 * Deletes the key of a claim that has ended; says whether it was still the one that
	 * this revision created. Of a lease only its own answer could tell, and jetcd may
	 * have asked twice.
	 */
	CompletableFuture<Boolean> end(Place place, long revision) {
		EtcdLease own = ownLease(place);
		if (own == null) {
			return noneUnderWay(place).thenCompose((done) -> this.calls.delete(place.key, revision));
		}
		CompletableFuture<Boolean> stood = this.calls.delete(place.key, revision);
		return stood.thenCompose((answer) -> own.revoke().handle((done, failure) -> {
			if (failure != null && place.isOpen()) {
				throw new IllegalStateException("A request that creates the key may still be carried out", failure);
			}
			return answer;
		}));
	}

	/**
	 * Lets the key of a claim that has ended live with a new lease that is not renewed;
	 * says whether it was still the one that this revision created.
	 */
	CompletableFuture<Boolean> retain(Place place, long revision, Duration remaining) {
		String value = LockDigest.readable(place.claim.lock(), NAME_LENGTH);
		return EtcdLease.grant(this.calls, this.clock, EtcdLease.seconds(remaining))
			.thenCompose((lease) -> this.calls.move(place.key, revision, value, lease.id()).thenCompose((moved) -> {
				EtcdLease unused = moved ? ownLease(place) : lease;
				return (unused != null) ? unused.revoke().handle((done, failure) -> moved)
						: CompletableFuture.completedFuture(moved);
			}));
	}

	/**
	 * Deletes the key of a claim that has ended, whatever is known of it, so that no
	 * request still under way can create it afterwards.
	 */
	CompletableFuture<?> leave(Place place) {
		EtcdLease lease = place.lease();
		if (lease == null || lease.hasEnded() || (!place.isOpen() && place.revision() == 0)) {
			return CompletableFuture.completedFuture(null);
		}
		EtcdLease own = ownLease(place);
		if (own != null) {
			return own.revoke();
		}
		return noneUnderWay(place).thenCompose((done) -> this.calls.delete(place.key, place.revision()));
	}

	/** Completes when no request that creates the key can be carried out any more. */
	private static CompletableFuture<Void> noneUnderWay(Place place) {
		Session session = place.session();
		return (session != null && place.isOpen()) ? session.passed(place.openEpoch())
				: CompletableFuture.completedFuture(null);
	}

	/** The lease that no other claim lives with, if there is one. */
	private static @Nullable EtcdLease ownLease(Place place) {
		return place.claim.renewed() ? null : place.lease();
	}

	/** The claim was abandoned, released or lost while an attempt was prepared. */
	private static final class ClaimEndedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		ClaimEndedException() {
			super("The claim has ended");
		}

	}

}
