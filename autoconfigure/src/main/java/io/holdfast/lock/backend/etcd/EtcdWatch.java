package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * A watch that signals once, and ends with that. It also ends with a signal if its stream
 * breaks, and is not restored. Thread-safe.
 */
abstract class EtcdWatch implements EtcdClient.WatchListener, AutoCloseable {

	private final CompletableFuture<Void> signal = new CompletableFuture<>();

	private final AtomicBoolean over = new AtomicBoolean();

	private volatile @Nullable Runnable watcher;

	/**
	 * Called once, after the request was sent. The watch may have ended meanwhile.
	 * @param watcher cancels the watch
	 */
	final void started(Runnable watcher) {
		this.watcher = watcher;
		if (isOver()) {
			stop();
		}
	}

	/** Completes, on any thread, when the watch signals, unless it was closed before. */
	final CompletionStage<Void> signal() {
		return this.signal.minimalCompletionStage();
	}

	final boolean isOver() {
		return this.over.get();
	}

	@Override
	public final void broken() {
		end();
	}

	/** Ends the watch with a signal. */
	final void end() {
		if (this.over.compareAndSet(false, true)) {
			stop();
			this.signal.complete(null);
		}
	}

	/** Ends the watch without a signal. */
	@Override
	public final void close() {
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
