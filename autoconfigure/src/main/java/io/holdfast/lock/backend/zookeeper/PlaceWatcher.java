package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Watches for a place the one node that stands in its way, and no other: a release wakes
 * one and not all.
 */
final class PlaceWatcher {

	private final ZooKeeperCalls calls;

	PlaceWatcher(ZooKeeperCalls calls) {
		this.calls = calls;
	}

	/** Completes when the node goes, or the session does. */
	CompletionStage<Void> watch(Place place, String path) {
		Place.Watch present = place.watchOn(path);
		if (present != null && !present.signal().isDone()) {
			return present.signal().minimalCompletionStage();
		}
		CompletableFuture<Void> signal = new CompletableFuture<>();
		ZooKeeperCalls.Watch watch = this.calls.watch(path, () -> signal.complete(null));
		forget(place.watch(new Place.Watch(path, signal, watch.cancel())));
		watch.set().whenComplete((seen, failure) -> {
			if (failure != null) {
				signal.complete(null);
			}
		});
		if (place.over()) {
			stop(place);
		}
		return signal.minimalCompletionStage();
	}

	void stop(Place place) {
		forget(place.watch(null));
	}

	private void forget(Place.@Nullable Watch watch) {
		if (watch != null && !watch.signal().isDone()) {
			watch.cancel().run();
		}
	}

}
