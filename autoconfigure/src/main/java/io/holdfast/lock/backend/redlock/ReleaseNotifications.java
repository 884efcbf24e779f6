package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.backend.redis.LeaseDemands;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The waiting claims and the sticky leases of this JVM. A node whose lock became free
 * reserves it for its first waiter and notifies that one. A waiter retries when a
 * majority of the nodes has notified it: then no other claim can have a majority before
 * it. A sticky lease is demanded as soon as one node says so.
 *
 * <p>
 * Waiters whose notifications are lost poll.
 */
final class ReleaseNotifications {

	private final Map<String, Waiter> waiting = new ConcurrentHashMap<>();

	private final LeaseDemands demands = new LeaseDemands();

	private final String instance = UUID.randomUUID().toString();

	private final String channels;

	private final int quorum;

	private final SchedulingClock clock;

	ReleaseNotifications(String namespace, int quorum, SchedulingClock clock) {
		this.channels = namespace + ":wake:";
		this.quorum = quorum;
		this.clock = clock;
	}

	/** Returns the random identity of this JVM as a subscriber. */
	String instance() {
		return this.instance;
	}

	/** Returns the prefix of a channel name, which ends with the instance. */
	String channels() {
		return this.channels;
	}

	/**
	 * Returns a signal for the next attempt of a claim. It must exist before the attempt
	 * is sent, because notifications may overtake the responses.
	 */
	CompletionStage<?> expect(OwnerId owner) {
		return this.waiting
			.compute(owner.value(),
					(key, present) -> new Waiter((present != null) ? present.since() : this.clock.nanos(),
							ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet(), new CompletableFuture<>()))
			.signal();
	}

	boolean isWaiting(OwnerId owner) {
		return this.waiting.containsKey(owner.value());
	}

	/** Returns how long a claim has waited. */
	Duration waited(OwnerId owner) {
		Waiter waiter = this.waiting.get(owner.value());
		return (waiter != null) ? Duration.ofNanos(this.clock.nanos() - waiter.since()) : Duration.ZERO;
	}

	/** Returns a signal for the demand of a lease. */
	CompletionStage<?> expectDemand(OwnerId owner) {
		return this.demands.expect(owner);
	}

	/** Signals that another claim waits for a sticky lease. */
	void demand(OwnerId owner) {
		this.demands.demand(owner.value());
	}

	/** Forgets the waiting claim, but not the lease that it may have by now. */
	void forget(OwnerId owner) {
		this.waiting.remove(owner.value());
	}

	void forgetAll(OwnerId owner) {
		forget(owner);
		this.demands.forget(owner);
	}

	/** Receives a message from a node: a demand, or the owner id of a waiting claim. */
	void received(RedlockNode node, String message) {
		if (!this.demands.receive(message)) {
			notified(node, message);
		}
	}

	/**
	 * Receives the notification of a claim by a node. If only a minority notifies it,
	 * because the nodes order the waiters differently, the claim retries, too, which
	 * corrects the order.
	 */
	private void notified(RedlockNode node, String owner) {
		Waiter waiter = this.waiting.get(owner);
		if (waiter == null || !waiter.nodes().add(node)) {
			return;
		}
		if (waiter.nodes().size() == 1) {
			Runnable cancel = this.clock.after(RedlockTimes.retryAfterNotification(this.clock).toNanos(),
					() -> waiter.signal().complete(null));
			waiter.signal().whenComplete((nothing, failure) -> cancel.run());
		}
		signalIfMajority(waiter);
	}

	/**
	 * Records the nodes on which a claim was granted and undone while a sticky lease that
	 * was demanded kept the others. It is notified by the rest of a majority: that lease
	 * may be released while the attempt is under way.
	 */
	void noteFree(OwnerId owner, List<NodeResponse> grants) {
		Waiter waiter = this.waiting.get(owner.value());
		if (waiter != null) {
			grants.forEach((grant) -> waiter.free().add(grant.node()));
			signalIfMajority(waiter);
		}
	}

	private void signalIfMajority(Waiter waiter) {
		long others = waiter.free().stream().filter((node) -> !waiter.nodes().contains(node)).count();
		if (waiter.nodes().size() + others >= this.quorum) {
			waiter.signal().complete(null);
		}
	}

	int size() {
		return this.waiting.size() + this.demands.size();
	}

	/**
	 * A claim that may retry.
	 *
	 * @param since the time of its first attempt, in nanoseconds of the clock
	 * @param nodes the nodes that have notified it since its latest attempt was sent
	 * @param free the nodes whose notification it does not need
	 * @param signal completes when they are a majority
	 */
	private record Waiter(long since, Set<RedlockNode> nodes, Set<RedlockNode> free, CompletableFuture<Void> signal) {
	}

}
