package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Watches a key that existed at a given revision, and signals once when the key should be
 * read again. That is when it was deleted, or when this watch can no longer report its
 * deletion.
 *
 * <p>
 * The watch starts now instead of at that revision: etcd serves a watch that starts in
 * the past with a delay of up to 100 ms. Once the watch is established, the key is read
 * if the watch may have missed its deletion. A key that was created after the revision is
 * another one with the same name. A watch whose stream breaks is not restored.
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
	 * Starts a watch.
	 * @param key the key
	 * @param seenAt the revision of etcd at which the key existed
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

	/**
	 * Completes, on any thread, when the key should be read again, unless the watch was
	 * closed before.
	 */
	CompletionStage<Void> signal() {
		return this.signal.minimalCompletionStage();
	}

	boolean isOver() {
		return this.over.get();
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
	public void deleted() {
		end();
	}

	@Override
	public void broken() {
		end();
	}

	/** Ends the watch and signals that the key should be read again. */
	void end() {
		if (this.over.compareAndSet(false, true)) {
			stop();
			this.signal.complete(null);
		}
	}

	/** Ends the watch without a signal. */
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
