package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Watches a key that existed at a given revision, and signals once when the key should be
 * read again. That is when it was deleted, or when this watch can no longer report its
 * deletion.
 *
 * <p>
 * The watch starts now instead of at that revision: etcd serves a watch that starts in
 * the past with a delay of up to 100 ms. Once the watch is established, the key is read
 * if the watch may have missed its deletion. A key that was created after the revision is
 * another one with the same name.
 */
final class KeyWatch extends EtcdWatch {

	/** The longest pause after this watch has broken. */
	private static final long PAUSE_NANOS = 500_000_000;

	private final EtcdCalls calls;

	private final SchedulingClock clock;

	private final String key;

	private final long seenAt;

	private KeyWatch(EtcdCalls calls, SchedulingClock clock, String key, long seenAt) {
		this.calls = calls;
		this.clock = clock;
		this.key = key;
		this.seenAt = seenAt;
	}

	/**
	 * Starts a watch.
	 * @param clock measures the pause after the watch has broken
	 * @param key the key
	 * @param seenAt the revision of etcd at which the key existed
	 */
	static KeyWatch on(EtcdCalls calls, SchedulingClock clock, String key, long seenAt) {
		KeyWatch watch = new KeyWatch(calls, clock, key, seenAt);
		watch.started(calls.watch(key, watch));
		return watch;
	}

	String key() {
		return this.key;
	}

	/** Returns the revision of etcd at which the key existed. */
	long seenAt() {
		return this.seenAt;
	}

	@Override
	public void created(long revision) {
		if (revision != this.seenAt) {
			this.calls.exists(this.key, this.seenAt).whenComplete((there, failure) -> {
				if (failure != null || !there) {
					end();
				}
			});
		}
	}

	@Override
	public void written(String key, long revision) {
		// the watch is for deletions alone
	}

	@Override
	public void deleted(String key, long revision) {
		end();
	}

	/**
	 * Signals after a pause. If every watch breaks at once, as behind a proxy that allows
	 * no streams, each signal would otherwise lead to the next watch without one. The
	 * client calls this for a closed watch, too.
	 */
	@Override
	public void broken() {
		if (isOver()) {
			return;
		}
		Runnable cancel = this.clock.after(PAUSE_NANOS / 2 + this.clock.jitter(PAUSE_NANOS / 2), this::end);
		over().thenRun(cancel);
	}

}
