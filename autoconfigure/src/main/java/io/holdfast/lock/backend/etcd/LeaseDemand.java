package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The demand of other claims for the sticky lease of one claim, which a single watch
 * reports. Thread-safe.
 */
final class LeaseDemand {

	private @Nullable DemandWatch watch;

	/** The revision that created the key whose holder the watch is for. */
	private long revision;

	private boolean over;

	/**
	 * Completes when another claim demands the lease.
	 * @param granted the revision that created the key of the holder. The watch for a
	 * former key of the claim is of no use to it
	 * @param start starts the watch for demands, unless an earlier grant of this claim
	 * has started it; may return {@code null}
	 * @return the signal, or {@code null} if there is no watch
	 */
	@Nullable CompletionStage<Void> signal(long granted, Supplier<@Nullable DemandWatch> start) {
		DemandWatch present = watch(granted);
		if (present != null) {
			return present.signal();
		}
		DemandWatch started = start.get();
		if (started == null) {
			return null;
		}
		DemandWatch unused = keepLatest(granted, started);
		if (unused != null) {
			unused.close();
		}
		present = watch(granted);
		return ((present != null) ? present : started).signal();
	}

	private synchronized @Nullable DemandWatch watch(long granted) {
		return (this.revision == granted) ? this.watch : null;
	}

	/** Keeps the watch for the latest key, and returns the other one. */
	private synchronized @Nullable DemandWatch keepLatest(long granted, DemandWatch started) {
		if (this.over || granted <= this.revision) {
			return started;
		}
		DemandWatch former = this.watch;
		this.watch = started;
		this.revision = granted;
		return former;
	}

	/** Ends the watch, because the claim has ended. */
	void close() {
		DemandWatch present;
		synchronized (this) {
			this.over = true;
			present = this.watch;
		}
		if (present != null) {
			present.close();
		}
	}

}
