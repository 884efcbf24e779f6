package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Limits the number of acquisition attempts that are in progress at one store. Further
 * attempts wait in order of arrival.
 *
 * <p>
 * A client sends its requests in order. Without a limit, the attempts of thousands of
 * callers on virtual threads or of asynchronous methods would delay renewals and
 * releases. Leases would then expire, and attempts would time out and be repeated.
 * {@value #LIMIT} attempts keep a store busy.
 */
final class AttemptLimiter implements StoreRequest.Sender {

	static final int LIMIT = 128;

	private final Queue<StoreRequest> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger underWay = new AtomicInteger();

	@Override
	public void send(StoreRequest request) {
		if (this.waiting.isEmpty() && enter()) {
			if (!isUnderWay(request, request.sendNow())) {
				sendFrom(next());
			}
			return;
		}
		this.waiting.add(request);
		if (enter()) {
			sendFrom(next());
		}
	}

	/**
	 * Sends requests in the slot that was acquired for the first of them, for as long as
	 * each is answered immediately.
	 */
	private void sendFrom(@Nullable StoreRequest first) {
		StoreRequest request = first;
		while (request != null && !isUnderWay(request, request.send())) {
			request = next();
		}
	}

	/** Whether a request that was sent awaits its response. Others follow then. */
	private boolean isUnderWay(StoreRequest request, boolean sent) {
		boolean awaits = sent && !request.isOver();
		if (awaits) {
			request.whenOver(() -> sendFrom(next()));
		}
		return awaits;
	}

	/** Returns the next request of the slot, or {@code null} if it was released. */
	private @Nullable StoreRequest next() {
		do {
			StoreRequest next = this.waiting.poll();
			if (next != null) {
				return next;
			}
			this.underWay.decrementAndGet();
		}
		while (!this.waiting.isEmpty() && enter());
		return null;
	}

	private boolean enter() {
		int present = this.underWay.get();
		while (present < LIMIT) {
			if (this.underWay.compareAndSet(present, present + 1)) {
				return true;
			}
			present = this.underWay.get();
		}
		return false;
	}

}
