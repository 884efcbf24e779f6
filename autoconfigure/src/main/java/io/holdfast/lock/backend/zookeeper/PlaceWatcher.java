package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.curator.framework.api.CuratorWatcher;
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
		CuratorWatcher watcher = (event) -> signal.complete(null);
		forget(place.watch(new Place.Watch(path, watcher, signal)));
		this.calls.watch(path, watcher).whenComplete((seen, failure) -> {
			if (failure != null) {
				signal.complete(null);
			}
		});
		return signal.minimalCompletionStage();
	}

	void stop(Place place) {
		forget(place.watch(null));
	}

	private void forget(Place.@Nullable Watch watch) {
		if (watch != null && !watch.signal().isDone()) {
			this.calls.unwatch(watch.path(), watch.watcher());
		}
	}

}
