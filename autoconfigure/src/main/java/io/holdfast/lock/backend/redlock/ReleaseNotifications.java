package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.LeaseDemands;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The waiting claims and the sticky leases of this JVM. A node whose lock became free
 * notifies its first waiter ({@link WaitingClaim}). A sticky lease is demanded as soon as
 * one node says so.
 *
 * <p>
 * Waiters whose notifications are lost poll.
 */
final class ReleaseNotifications {

	private final Map<String, WaitingClaim> waiting = new ConcurrentHashMap<>();

	private final LeaseDemands demands = new LeaseDemands();

	private final String instance = UUID.randomUUID().toString();

	private final RedlockLockOptions options;

	private final int quorum;

	private final SchedulingClock clock;

	ReleaseNotifications(RedlockLockOptions options, int quorum, SchedulingClock clock) {
		this.options = options;
		this.quorum = quorum;
		this.clock = clock;
	}

	/** Returns the random identity of this JVM as a subscriber. */
	String instance() {
		return this.instance;
	}

	/** Returns the prefix of a channel name, which ends with the instance. */
	String channels() {
		return this.options.namespace() + ":wake:";
	}

	/**
	 * Records that a claim waits for its next attempt. This must happen before the
	 * attempt is sent, because notifications may overtake the responses.
	 */
	WaitingClaim expect(Claim claim) {
		return Objects
			.requireNonNull(this.waiting.compute(claim.owner().value(), (key, present) -> new WaitingClaim(claim,
					(present != null) ? present.since() : this.clock.nanos(), this.quorum, this.options, this.clock)));
	}

	boolean isWaiting(OwnerId owner) {
		return this.waiting.containsKey(owner.value());
	}

	/** Returns how long a claim has waited. */
	Duration waited(OwnerId owner) {
		WaitingClaim waiter = this.waiting.get(owner.value());
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

	/**
	 * Forgets a claim whose attempt has failed, unless it has made a later one, which may
	 * wait or have been granted.
	 * @param attempt the claim as it waits after the failed attempt, or {@code null} if
	 * no attempt follows it
	 * @return whether it is forgotten
	 */
	boolean forgetFailed(OwnerId owner, @Nullable WaitingClaim attempt) {
		boolean latest = attempt == null || this.waiting.remove(owner.value(), attempt);
		if (latest) {
			forgetAll(owner);
		}
		return latest;
	}

	/** Receives a message from a node: a demand, or the notice for a waiting claim. */
	void received(RedlockNode node, String message) {
		if (!this.demands.receive(message)) {
			NodeNotice notice = NodeNotice.parse(message);
			WaitingClaim waiter = this.waiting.get(notice.notice().owner());
			if (waiter != null) {
				waiter.notified(node, notice);
			}
		}
	}

	/**
	 * Records the nodes on which a claim was granted and undone while a sticky lease that
	 * was demanded kept the others. It is notified by the rest of a majority: that lease
	 * may be released while the attempt is under way.
	 */
	void noteFree(OwnerId owner, List<NodeResponse> grants) {
		WaitingClaim waiter = this.waiting.get(owner.value());
		if (waiter != null) {
			waiter.free(grants.stream().map(NodeResponse::node).toList());
		}
	}

	int size() {
		return this.waiting.size() + this.demands.size();
	}

}
