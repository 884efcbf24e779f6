package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Renews holds and makes sure of them, by asking the leader for their nodes.
 */
final class Renewals {

	private static final long PAUSE_MILLIS = 100;

	private final ZooKeeperCalls calls;

	private final Places places;

	private final Suspension suspension;

	private final SchedulingClock clock;

	Renewals(ZooKeeperCalls calls, Places places, Suspension suspension, SchedulingClock clock) {
		this.calls = calls;
		this.places = places;
		this.suspension = suspension;
		this.clock = clock;
	}

	CompletableFuture<RenewResult> renew(Grant grant) {
		Place place = this.places.of(grant);
		if (place == null) {
			return CompletableFuture.completedFuture(new RenewResult.Refused());
		}
		long session = this.calls.session();
		if (session == ZooKeeperCalls.UNKNOWN_SESSION) {
			return CompletableFuture.completedFuture(
					new RenewResult.Indeterminate(new IllegalStateException("The client is not connected")));
		}
		String path = place.path(session);
		if (path == null) {
			return CompletableFuture.completedFuture(refused(place));
		}
		int interruptions = this.suspension.count();
		return this.calls.check(path).handle((checked, failure) -> {
			if (failure == null && this.calls.session() == session) {
				place.confirmed(interruptions);
				return new RenewResult.Renewed(this.calls.sessionTimeout());
			}
			return (failure != null && ZooKeeperCalls.gone(failure)) ? refused(place)
					: new RenewResult.Indeterminate((failure != null) ? ZooKeeperCalls.cause(failure)
							: new IllegalStateException("The session changed meanwhile"));
		});
	}

	/** The holder will hear that its node is gone, and ask for nothing any more. */
	private RenewResult refused(Place place) {
		this.places.end(place);
		return new RenewResult.Refused();
	}

	/** See {@link LockBackend#confirm}. */
	CompletionStage<Boolean> confirm(Grant grant) {
		Place place = this.places.of(grant);
		if (place == null) {
			return CompletableFuture.completedFuture(false);
		}
		if (place.confirmedSince(this.suspension.count())) {
			return LockBackend.CERTAIN;
		}
		return this.suspension.over()
			.thenCompose((back) -> renew(grant))
			.thenCompose((answer) -> (answer instanceof RenewResult.Indeterminate) ? confirmLater(grant)
					: CompletableFuture.completedFuture(answer instanceof RenewResult.Renewed));
	}

	private CompletionStage<Boolean> confirmLater(Grant grant) {
		CompletableFuture<Void> pause = new CompletableFuture<>();
		this.clock.after(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> pause.complete(null));
		return pause.thenCompose((over) -> confirm(grant));
	}

}
