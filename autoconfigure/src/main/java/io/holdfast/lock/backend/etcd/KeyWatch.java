package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Watches one key that was there at some revision, and tells once when it is worth
 * looking for it again: it was deleted, or this watch can no longer tell.
 *
 * <p>
 * It watches from now on instead of from that revision, because etcd serves a watch that
 * begins in the past with a delay of up to 100 ms; what may have been missed before the
 * watch was up is asked for then. A watch whose stream breaks is not mended.
 */
final class KeyWatch implements EtcdClient.WatchListener, AutoCloseable {

	private final EtcdCalls calls;

	private final String key;

	private final long seenAt;

	private final CompletableFuture<Void> signal = new CompletableFuture<>();

	private final AtomicBoolean over = new AtomicBoolean();

	private volatile @Nullable Runnable watcher;

	private KeyWatch(EtcdCalls calls, String key, long seenAt) {
		this.calls = calls;
		this.key = key;
		this.seenAt = seenAt;
	}

	/**
	 * Begin to watch.
	 * @param key the key
	 * @param seenAt the revision of etcd at which it was there
	 */
	static KeyWatch on(EtcdCalls calls, String key, long seenAt) {
		KeyWatch watch = new KeyWatch(calls, key, seenAt);
		watch.watcher = calls.watch(key, watch);
		if (watch.over.get()) {
			watch.stop();
		}
		return watch;
	}

	String key() {
		return this.key;
	}

	/** Completes, on any thread, when it is time to look, unless it was closed before. */
	CompletionStage<Void> signal() {
		return this.signal.minimalCompletionStage();
	}

	boolean isOver() {
		return this.over.get();
	}

	@Override
	public void created(long revision) {
		if (revision != this.seenAt) {
			this.calls.exists(this.key).whenComplete((there, failure) -> {
				if (failure != null || !there) {
					end();
				}
			});
		}
	}

	@Override
	public void deleted() {
		end();
	}

	@Override
	public void broken() {
		end();
	}

	/** It is time to look. */
	void end() {
		if (this.over.compareAndSet(false, true)) {
			stop();
			this.signal.complete(null);
		}
	}

	/** Watch no longer, and tell nothing. */
	@Override
	public void close() {
		if (this.over.compareAndSet(false, true)) {
			stop();
		}
	}

	private void stop() {
		Runnable present = this.watcher;
		if (present != null) {
			present.run();
		}
	}

}
