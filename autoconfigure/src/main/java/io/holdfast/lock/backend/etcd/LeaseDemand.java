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

	private boolean over;

	/**
	 * Completes when another claim demands the lease.
	 * @param start starts the watch for demands, unless an earlier grant of this claim
	 * has started it; may return {@code null}
	 * @return the signal, or {@code null} if there is no watch
	 */
	@Nullable CompletionStage<Void> signal(Supplier<@Nullable DemandWatch> start) {
		DemandWatch present = watch();
		if (present != null) {
			return present.signal();
		}
		DemandWatch started = start.get();
		if (started == null) {
			return null;
		}
		synchronized (this) {
			present = this.watch;
			if (present == null && !this.over) {
				this.watch = started;
				return started.signal();
			}
		}
		started.close();
		return ((present != null) ? present : started).signal();
	}

	private synchronized @Nullable DemandWatch watch() {
		return this.watch;
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
