package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * A watch that signals once, and ends with that. It also ends with a signal if its stream
 * breaks, and is not restored. Thread-safe.
 */
abstract class EtcdWatch implements EtcdClient.WatchListener, AutoCloseable {

	private final CompletableFuture<Void> signal = new CompletableFuture<>();

	private final CompletableFuture<Void> over = new CompletableFuture<>();

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

	/** Completes, on any thread, when the watch ends, with a signal or without. */
	final CompletionStage<Void> over() {
		return this.over.minimalCompletionStage();
	}

	final boolean isOver() {
		return this.over.isDone();
	}

	@Override
	public void broken() {
		end();
	}

	/** Ends the watch with a signal. */
	final void end() {
		endAfter(() -> {
		});
	}

	/**
	 * Ends the watch with a signal.
	 * @param task runs before the signal, unless the watch had ended already
	 */
	final void endAfter(Runnable task) {
		if (this.over.complete(null)) {
			stop();
			task.run();
			this.signal.complete(null);
		}
	}

	/** Ends the watch without a signal. */
	@Override
	public final void close() {
		if (this.over.complete(null)) {
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
