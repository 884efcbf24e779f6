package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.support.SchedulingClock;

/**
 * A claim that waits after one of its attempts. A node whose lock became free keeps or
 * reserves it for its first waiter, and notifies that one. If a majority of the nodes
 * keeps the lock for the claim with the same token, the claim holds it. Otherwise it
 * retries when a majority has notified it: then no other claim can have a majority before
 * it. Thread-safe.
 *
 * <p>
 * Each node that keeps the lock has rejected this attempt before, and its response shows
 * since when, and that the notice is not from before. A grant of this attempt that is
 * undone therefore never counts, because its node has not rejected it.
 */
final class WaitingClaim {

	private final Map<RedlockNode, NodeResponse> rejections = new ConcurrentHashMap<>();

	/** The latest notice of each node that has notified the claim since its attempt. */
	private final Map<RedlockNode, NodeNotice> notices = new ConcurrentHashMap<>();

	private final AtomicBoolean retryScheduled = new AtomicBoolean();

	/** The nodes whose notification it does not need. */
	private final Set<RedlockNode> free = ConcurrentHashMap.newKeySet();

	private final CompletableFuture<@Nullable KeptLock> signal = new CompletableFuture<>();

	private final Claim claim;

	private final long since;

	private final long startedAt;

	private final int quorum;

	private final RedlockLockOptions options;

	private final SchedulingClock clock;

	/**
	 * Creates a claim that waits. This must happen before its attempt is sent.
	 * @param since the time of its first attempt, in nanoseconds of the clock
	 */
	WaitingClaim(Claim claim, long since, int quorum, RedlockLockOptions options, SchedulingClock clock) {
		this.claim = claim;
		this.since = since;
		this.startedAt = clock.nanos();
		this.quorum = quorum;
		this.options = options;
		this.clock = clock;
	}

	long since() {
		return this.since;
	}

	/**
	 * Completes with the lock that a majority keeps for the claim, or with {@code null}
	 * when the claim should retry.
	 */
	CompletionStage<?> signal() {
		return this.signal;
	}

	/** Receives the rejection of the attempt by a node. */
	void rejected(NodeResponse response) {
		this.rejections.put(response.node(), response);
	}

	/**
	 * Receives the notice of a node. If only a minority notifies the claim, because the
	 * nodes order the waiters differently, it retries, too, which corrects the order.
	 */
	void notified(RedlockNode node, NodeNotice notice) {
		this.notices.put(node, notice);
		if (this.retryScheduled.compareAndSet(false, true)) {
			Runnable cancel = this.clock.after(RedlockTimes.retryAfterNotification(this.clock).toNanos(),
					() -> this.signal.complete(null));
			this.signal.whenComplete((news, failure) -> cancel.run());
		}
		decide();
	}

	/** Adds nodes whose notification the claim does not need. */
	void free(List<RedlockNode> nodes) {
		this.free.addAll(nodes);
		decide();
	}

	private void decide() {
		long notified = Stream.concat(this.notices.keySet().stream(), this.free.stream()).distinct().count();
		if (notified >= this.quorum && !this.signal.isDone()) {
			this.signal.complete(kept());
		}
	}

	/** Returns the lock that a majority keeps with the same token, or {@code null}. */
	private @Nullable KeptLock kept() {
		Map<String, KeptLock> byServer = new HashMap<>();
		this.notices.forEach((node, notice) -> byServer.computeIfAbsent(notice.runId(), (runId) -> keptBy(node)));
		return byServer.values()
			.stream()
			.collect(Collectors.groupingBy((kept) -> kept.grant().storeToken()))
			.values()
			.stream()
			.filter((same) -> isMajority(same.size()))
			.findFirst()
			.map(this::together)
			.orElse(null);
	}

	private boolean isMajority(int nodes) {
		return nodes >= this.quorum;
	}

	/**
	 * Returns the lock that a node keeps, or {@code null} if it does not, if its clock
	 * was moved, or if its address has led to another server since the rejection.
	 */
	private @Nullable KeptLock keptBy(RedlockNode node) {
		NodeResponse rejection = this.rejections.get(node);
		NodeNotice notice = this.notices.get(node);
		KeptLock kept = (rejection != null && notice != null && notice.runId().equals(rejection.runId()))
				? notice.notice().keptFor(this.claim, null, rejection.latestToken(), rejection.rejectedAtMicros())
				: null;
		boolean future = kept != null && kept.after().toNanos() > this.clock.nanos() - this.startedAt;
		return future ? null : kept;
	}

	/**
	 * Returns a lock that ends with the first of its parts, and is as old as the oldest.
	 */
	private @Nullable KeptLock together(List<KeptLock> parts) {
		Duration after = least(parts.stream().map(KeptLock::after));
		Duration end = least(parts.stream().map((part) -> part.after().plus(part.time())));
		Duration time = ClockDrift.trustedLease(end, this.options).minus(after);
		Grant grant = new Grant(this.claim, parts.get(0).grant().storeToken(),
				ClockDrift.trustedLease(RedlockTimes.lease(this.claim), this.options));
		return (time.compareTo(Duration.ZERO) > 0) ? new KeptLock(grant, after, time) : null;
	}

	private static Duration least(Stream<Duration> durations) {
		return durations.min(Comparator.naturalOrder()).orElseThrow();
	}

}
