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

	/**
	 * Waits for a key, which is watched unless it is watched already.
	 * @param seenAt the revision of etcd at which the claim was behind that key. A late
	 * response does not replace the watch of a later one
	 */
	CompletionStage<Void> waitFor(String before, long seenAt, Supplier<KeyWatch> start) {
		synchronized (this) {
			if (this.watch != null && !this.watch.isOver()
					&& (this.watch.key().equals(before) || this.watch.seenAt() > seenAt)) {
				return this.watch.signal();
			}
		}
		KeyWatch latest = keepLatest(start.get());
		stopIfOver();
		return latest.signal();
	}

	/** Keeps the watch of the later response, and closes the other one. */
	private KeyWatch keepLatest(KeyWatch next) {
		KeyWatch former;
		KeyWatch latest = next;
		synchronized (this) {
			former = this.watch;
			if (former != null && !former.isOver() && former.seenAt() > next.seenAt()) {
				latest = former;
				former = next;
			}
			this.watch = latest;
		}
		if (former != null) {
			former.close();
		}
		return latest;
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

	/** Allows another wait after the end of this one. */
	synchronized void restart() {
		this.over = false;
	}

	/** Ends the wait: the claim was granted or has ended. */
	void stop() {
		Runnable planned;
		KeyWatch present;
		synchronized (this) {
			this.over = true;
			present = this.watch;
			this.watch = null;
			planned = this.renewal;
			this.renewal = null;
		}
		if (present != null) {
			present.close();
		}
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

}
