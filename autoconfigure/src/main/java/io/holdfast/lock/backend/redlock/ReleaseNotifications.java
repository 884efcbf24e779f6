package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The waiting claims of this JVM. A node whose lock became free reserves it for its first
 * waiter and notifies that one. A waiter retries when a majority of the nodes has
 * notified it: then no other claim can have a majority before it.
 *
 * <p>
 * Waiters whose notifications are lost poll.
 */
final class ReleaseNotifications {

	private final Map<String, Waiter> waiting = new ConcurrentHashMap<>();

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
							ConcurrentHashMap.newKeySet(), new CompletableFuture<>()))
			.signal();
	}

	/** Returns how long a claim has waited. */
	Duration waited(OwnerId owner) {
		Waiter waiter = this.waiting.get(owner.value());
		return (waiter != null) ? Duration.ofNanos(this.clock.nanos() - waiter.since()) : Duration.ZERO;
	}

	void forget(OwnerId owner) {
		this.waiting.remove(owner.value());
	}

	/**
	 * Receives the notification of a claim by a node. If only a minority notifies it,
	 * because the nodes order the waiters differently, the claim retries, too, which
	 * corrects the order.
	 */
	void notified(RedlockNode node, String owner) {
		Waiter waiter = this.waiting.get(owner);
		if (waiter == null || !waiter.nodes().add(node)) {
			return;
		}
		int count = waiter.nodes().size();
		if (count >= this.quorum) {
			waiter.signal().complete(null);
		}
		else if (count == 1) {
			Runnable cancel = this.clock.after(RedlockTimes.retryAfterNotification(this.clock).toNanos(),
					() -> waiter.signal().complete(null));
			waiter.signal().whenComplete((nothing, failure) -> cancel.run());
		}
	}

	int size() {
		return this.waiting.size();
	}

	/**
	 * A claim that may retry.
	 *
	 * @param since the time of its first attempt, in nanoseconds of the clock
	 * @param nodes the nodes that have notified it since its latest attempt was sent
	 * @param signal completes when they are a majority
	 */
	private record Waiter(long since, Set<RedlockNode> nodes, CompletableFuture<Void> signal) {
	}

}
