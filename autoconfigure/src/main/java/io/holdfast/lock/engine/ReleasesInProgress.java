package io.holdfast.lock.engine;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;

/**
 * The releases and withdrawals of this JVM that a later request may overtake on its way
 * to the store. The callers of one wait queue follow each other. But readers, writers and
 * fair callers have different queues, so a caller that does not wait would find the lock
 * held by the caller before it. Thread-safe.
 */
final class ReleasesInProgress {

	private final Map<Released, CompletableFuture<?>> present = new ConcurrentHashMap<>();

	/**
	 * Adds a release that was sent and may be overtaken, or the withdrawal of a claim
	 * that the store may have granted. A withdrawal may be overtaken at any store,
	 * because it may take several requests.
	 * @param answered completes with the store's response
	 * @return the same future
	 */
	<T> CompletableFuture<T> add(ResolvedRequest request, CompletableFuture<T> answered) {
		if (!answered.isDone()) {
			Released released = new Released(LockAtBackend.of(request), request.mode());
			CompletableFuture<?> all = this.present.merge(released, answered, CompletableFuture::allOf);
			all.whenComplete((answer, failure) -> this.present.remove(released, all));
		}
		return answered;
	}

	/**
	 * Returns what a caller awaits before its first attempt. It waits once, even if it
	 * has waited in its queue before: releases of others that come and go must not keep
	 * it.
	 * @return the responses to the releases, or {@code null} if there is none to await
	 */
	@Nullable CompletableFuture<?> before(Acquisition next) {
		if (this.present.isEmpty() || next.hasAwaitedReleases || next.attempts.made() > 0 || next.request.waits()) {
			return null;
		}
		LockAtBackend lock = LockAtBackend.of(next.request);
		CompletableFuture<?> writer = this.present.get(new Released(lock, LockMode.EXCLUSIVE));
		CompletableFuture<?> readers = (next.request.mode() == LockMode.EXCLUSIVE)
				? this.present.get(new Released(lock, LockMode.SHARED)) : null;
		CompletableFuture<?> awaited = (writer != null && readers != null) ? CompletableFuture.allOf(writer, readers)
				: (writer != null) ? writer : readers;
		next.hasAwaitedReleases = awaited != null;
		next.refused |= awaited != null;
		return awaited;
	}

	/** A lock and the mode in which it was held. */
	private record Released(LockAtBackend lock, LockMode mode) {
	}

}
