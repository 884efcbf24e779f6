package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Takes places in the lines of locks, and gives them up.
 */
final class Line {

	private static final int NAME_LENGTH = 200;

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
	 * Stand in the line with a lease that has time ahead, and see who is before. If etcd
	 * has ended the lease or the key since they were last used, once more with new ones.
	 */
	CompletableFuture<Standing> stand(Place place) {
		return attempt(place).exceptionallyCompose((failure) -> {
			if (!forgetWhatIsGone(place, failure)) {
				return CompletableFuture.failedFuture(failure);
			}
			return attempt(place);
		});
	}

	private CompletableFuture<Standing> attempt(Place place) {
		return lease(place).thenCompose((lease) -> {
			long revision = place.revision();
			if (revision != 0) {
				return this.calls.look(place.key, revision, this.keys.rivals(place.claim));
			}
			String value = LockDigest.readable(place.claim.lock(), NAME_LENGTH);
			return this.calls.stand(place.key, value, lease.id(), this.keys.rivals(place.claim))
				.whenComplete((standing, failure) -> stood(place, standing, failure));
		});
	}

	private CompletableFuture<EtcdLease> lease(Place place) {
		EtcdLease present = place.lease();
		if (present != null) {
			return present.fresh();
		}
		Duration length = place.claim.leaseTime();
		return place.claim.renewed() ? this.sessions.lease(length).thenApply(place::bind)
				: EtcdLease.grant(this.calls, this.clock, length).thenApply((granted) -> bindOwn(place, granted));
	}

	private static EtcdLease bindOwn(Place place, EtcdLease granted) {
		EtcdLease bound = place.bind(granted);
		if (bound != granted || place.isAbandoned()) {
			granted.revoke();
		}
		return bound;
	}

	private void stood(Place place, @Nullable Standing standing, @Nullable Throwable failure) {
		if (standing != null) {
			place.stands(standing.revision());
		}
		else if (failure != null && !EtcdFailures.isLeaseGone(failure)) {
			place.unanswered();
		}
		if (place.isAbandoned()) {
			leave(place);
		}
	}

	private static boolean forgetWhatIsGone(Place place, Throwable failure) {
		boolean leaseGone = EtcdFailures.isLeaseGone(failure);
		EtcdLease lease = place.lease();
		if (leaseGone && lease != null) {
			lease.end();
		}
		boolean gone = leaseGone || EtcdFailures.cause(failure) instanceof EtcdCalls.KeyGoneException;
		if (gone) {
			place.forget();
		}
		return gone;
	}

	/**
	 * Give up a key that this revision created; says whether it stood until now. Of a
	 * lease only its own answer could tell, and jetcd may have asked twice.
	 */
	CompletableFuture<Boolean> end(Place place, long revision) {
		EtcdLease own = ownLease(place);
		CompletableFuture<Boolean> stood = this.calls.delete(place.key, revision);
		return (own != null) ? stood.thenCompose((answer) -> own.revoke().handle((done, failure) -> answer)) : stood;
	}

	/**
	 * Give up the key of a claim, whatever is known of it. With a lease of its own, a
	 * request still under way cannot create it afterwards.
	 */
	CompletableFuture<Void> leave(Place place) {
		EtcdLease own = ownLease(place);
		return ((own != null) ? revoke(own) : this.calls.delete(place.key)).thenApply((done) -> null);
	}

	/** The lease that no other claim lives with, if there is one. */
	private static @Nullable EtcdLease ownLease(Place place) {
		return place.claim.renewed() ? null : place.lease();
	}

	private static CompletableFuture<?> revoke(EtcdLease lease) {
		return lease.revoke()
			.handle((revoked, failure) -> (failure == null || EtcdFailures.isLeaseGone(failure))
					? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure))
			.thenCompose((answer) -> answer);
	}

}
