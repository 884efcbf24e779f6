package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.support.Stages;

/**
 * The future of the response to a request that may wait for a thread, or for capacity at
 * the store, before it is sent. One atomic decision either sends it once or withdraws it.
 * The response to a withdrawn request never arrives. The request is over when the
 * response arrives or the caller stops waiting.
 *
 * <p>
 * Every acquisition makes at least one request, so it is a single object: it extends the
 * future, and has room for one listener of each event.
 */
abstract class StoreRequest extends CompletableFuture<AcquireResult>
		implements BiConsumer<AcquireResult, @Nullable Throwable> {

	private static final int WAITING = 0;

	private static final int SENT = 1;

	private static final int WITHDRAWN = 2;

	private static final AtomicIntegerFieldUpdater<StoreRequest> STATE = AtomicIntegerFieldUpdater
		.newUpdater(StoreRequest.class, "state");

	private static final AtomicReferenceFieldUpdater<StoreRequest, @Nullable Runnable> ON_SENT = AtomicReferenceFieldUpdater
		.newUpdater(StoreRequest.class, Runnable.class, "onSent");

	private static final AtomicReferenceFieldUpdater<StoreRequest, @Nullable Runnable> ON_OVER = AtomicReferenceFieldUpdater
		.newUpdater(StoreRequest.class, Runnable.class, "onOver");

	private volatile int state;

	/** Whether the caller has stopped waiting. */
	private volatile boolean ended;

	private volatile @Nullable Runnable onSent;

	private volatile @Nullable Runnable onOver;

	/** Written before the call, so a thread that sees the response sees it, too. */
	private long sentAt;

	/**
	 * Creates a request.
	 * @param now the present time, or a slightly earlier one
	 */
	StoreRequest(long now) {
		this.sentAt = now;
	}

	/** Reads the clock. */
	abstract long now();

	/** Calls the store. */
	abstract CompletionStage<AcquireResult> call();

	/**
	 * Sends a request that has waited, unless it was withdrawn.
	 * @return whether this call sent it
	 */
	boolean send() {
		if (!STATE.compareAndSet(this, WAITING, SENT)) {
			return false;
		}
		runListener(ON_SENT);
		this.sentAt = now();
		ask(this);
		return true;
	}

	/**
	 * Sends a request that was just created. It needs no reading of the clock of its own:
	 * an earlier one only shortens the validity.
	 * @return whether this call sent it
	 */
	boolean sendNow() {
		boolean sent = STATE.compareAndSet(this, WAITING, SENT);
		if (sent) {
			ask(this);
		}
		return sent;
	}

	private static void ask(StoreRequest request) {
		Stages.whenDone(StoreResponses.ask(StoreRequest::call, request), request);
	}

	/** Completes the request as the store responds. */
	@Override
	public void accept(AcquireResult value, @Nullable Throwable failure) {
		Stages.settle(this, value, failure);
		runListener(ON_OVER);
	}

	/**
	 * Stops waiting for the response, and withdraws the request unless it was sent. A
	 * response that still arrives is passed on.
	 * @return whether this call withdrew the request before it was sent
	 */
	boolean withdraw() {
		this.ended = true;
		runListener(ON_OVER);
		return STATE.compareAndSet(this, WAITING, WITHDRAWN);
	}

	boolean isOver() {
		return this.ended || isDone();
	}

	/** Runs the action when the request is over. Call it once. */
	void whenOver(Runnable action) {
		this.onOver = action;
		// the request may have ended before it could see the action
		if (isOver()) {
			runListener(ON_OVER);
		}
	}

	/** Whether the request was sent or withdrawn. */
	boolean isSent() {
		return this.state != WAITING;
	}

	/** Runs the action when the request is sent. Call it once. */
	void whenSent(Runnable action) {
		this.onSent = action;
		if (this.state == SENT) {
			runListener(ON_SENT);
		}
	}

	/** Runs the listener of an event, which takes place only once. */
	private void runListener(AtomicReferenceFieldUpdater<StoreRequest, @Nullable Runnable> listener) {
		Runnable action = (listener.get(this) != null) ? listener.getAndSet(this, null) : null;
		if (action != null) {
			action.run();
		}
	}

	/** Returns when the request was sent; available once it is answered. */
	long sentAt() {
		return this.sentAt;
	}

	/**
	 * Sends acquisition attempts, immediately or as soon as there is capacity for them.
	 */
	@FunctionalInterface
	interface Sender {

		/**
		 * Sends a request, unless it is withdrawn first.
		 * @param request the request
		 */
		void send(StoreRequest request);

	}

}
