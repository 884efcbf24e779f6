package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The wait of a claim: the watch of its predecessor, and the timer that renews a lease of
 * its own. Thread-safe: guarded by its own monitor, which is never held during a request
 * to the store.
 */
final class QueueWait {

	private @Nullable KeyWatch watch;

	private @Nullable Runnable renewal;

	private boolean over;

	/** Waits for a key, which is watched unless it is watched already. */
	CompletionStage<Void> waitFor(String before, Supplier<KeyWatch> start) {
		synchronized (this) {
			if (this.watch != null && this.watch.key().equals(before) && !this.watch.isOver()) {
				return this.watch.signal();
			}
		}
		KeyWatch next = start.get();
		swap(next);
		stopIfOver();
		return next.signal();
	}

	/** Sets the timer of the next renewal, unless it is set already. */
	void renewLater(Supplier<Runnable> timer) {
		synchronized (this) {
			if (this.renewal != null) {
				return;
			}
			this.renewal = timer.get();
		}
		stopIfOver();
	}

	/** The timer has run. */
	synchronized void renewing() {
		this.renewal = null;
	}

	/** Signals that the claim should read its position again. */
	void signal() {
		KeyWatch present;
		synchronized (this) {
			present = this.watch;
		}
		if (present != null) {
			present.end();
		}
	}

	/** Ends the wait: the claim was granted or has ended. */
	void stop() {
		Runnable planned;
		synchronized (this) {
			this.over = true;
			planned = this.renewal;
			this.renewal = null;
		}
		swap(null);
		if (planned != null) {
			planned.run();
		}
	}

	private void stopIfOver() {
		boolean late;
		synchronized (this) {
			late = this.over;
		}
		if (late) {
			stop();
		}
	}

	private void swap(@Nullable KeyWatch next) {
		KeyWatch former;
		synchronized (this) {
			former = this.watch;
			this.watch = next;
		}
		if (former != null) {
			former.close();
		}
	}

}
