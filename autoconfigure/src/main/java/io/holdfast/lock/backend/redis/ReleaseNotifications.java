package io.holdfast.lock.backend.redis;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.ScriptClient.Subscription;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SharedAttempt;

/**
 * The waiting claims and the sticky leases of this JVM, and the channel that notifies
 * them. A message is the {@linkplain ReleaseNotice notice} for one claim, or the demand
 * of a lease.
 *
 * <p>
 * Without the subscription, waiting claims poll.
 */
final class ReleaseNotifications {

	private static final GuardedLog logger = GuardedLog.of(ReleaseNotifications.class);

	private final Map<String, CompletableFuture<ReleaseNotice>> waiting = new ConcurrentHashMap<>();

	private final LeaseDemands demands = new LeaseDemands();

	private final SharedAttempt<Subscription> subscription = new SharedAttempt<>(this::addListener);

	private final AtomicBoolean reported = new AtomicBoolean();

	private final String instance = UUID.randomUUID().toString();

	private final ScriptClient client;

	private final String channel;

	private final String channels;

	private final boolean counted;

	private volatile @Nullable Subscription subscribed;

	private volatile boolean closed;

	ReleaseNotifications(ScriptClient client, String namespace) {
		String prefix = namespace + ":wake:";
		this.client = client;
		this.channel = prefix + this.instance;
		// A client may map names: scripts must publish to the name that it subscribes to
		String mapped = client.channelOnServer(this.channel);
		this.channels = mapped.endsWith(this.instance) ? mapped.substring(0, mapped.length() - this.instance.length())
				: prefix;
		this.counted = client.isCounted();
	}

	/** Whether PUBLISH counts this JVM whenever it is subscribed. */
	boolean isCounted() {
		return this.counted;
	}

	/**
	 * Returns the random identity of this JVM as a subscriber.
	 */
	String instance() {
		return this.instance;
	}

	/**
	 * Returns the prefix of a channel name, which ends with the instance.
	 */
	String channels() {
		return this.channels;
	}

	/**
	 * Returns a signal for an attempt of a claim. It must exist before the claim is sent,
	 * because the notification may overtake the response. It replaces the signal of the
	 * previous attempt, which would otherwise retain every attempt of a long wait.
	 */
	CompletionStage<ReleaseNotice> expect(OwnerId owner) {
		subscribe();
		CompletableFuture<ReleaseNotice> signal = new CompletableFuture<>();
		this.waiting.put(owner.value(), signal);
		return signal;
	}

	/**
	 * Returns a signal for the demand of a lease. Without a subscription, no demand would
	 * arrive.
	 * @return the signal, or {@code null} if this JVM is not subscribed yet
	 */
	@Nullable CompletionStage<Void> expectDemand(OwnerId owner) {
		subscribe();
		return this.subscription.hasSucceeded() ? this.demands.expect(owner) : null;
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
	 * @param signal the signal of the failed attempt, or {@code null} if no attempt
	 * follows it
	 */
	void forgetAttempt(OwnerId owner, @Nullable CompletionStage<ReleaseNotice> signal) {
		if (signal == null || this.waiting.remove(owner.value(), signal)) {
			forgetAll(owner);
		}
	}

	int size() {
		return this.waiting.size() + this.demands.size();
	}

	/**
	 * Subscribes unless this JVM is subscribed already.
	 * @return completes when this JVM is subscribed
	 */
	CompletionStage<?> subscribe() {
		return this.subscription.get();
	}

	private CompletionStage<Subscription> addListener() {
		return this.client.subscribe(this.channel, this::received).whenComplete((subscription, failure) -> {
			if (failure != null) {
				reportOnce(failure);
				return;
			}
			this.subscribed = subscription;
			if (this.closed) {
				subscription.end();
			}
		});
	}

	private void reportOnce(Throwable failure) {
		String code = RedisErrors.definiteCode(failure);
		if (code != null && this.reported.compareAndSet(false, true)) {
			logger.warn(
					"Redis rejects the subscription to '%s' (%s). Waiters poll instead, which is slower. Grant the user this channel."
						.formatted(this.channels + this.instance, code));
		}
		logger.debug("Cannot subscribe to release notifications yet", failure);
	}

	private void received(String message) {
		if (!this.demands.receive(message)) {
			ReleaseNotice notice = ReleaseNotice.parse(message);
			CompletableFuture<ReleaseNotice> signal = this.waiting.remove(notice.owner());
			if (signal != null) {
				signal.complete(notice);
			}
		}
	}

	/** Signals that another claim waits for a sticky lease, or asks for it. */
	void demand(String owner) {
		this.demands.demand(owner);
	}

	/**
	 * Unsubscribes, also if a subscription is in progress.
	 * @return completes when the attempt has ended, whether or not it succeeded
	 */
	CompletionStage<?> close() {
		this.closed = true;
		Subscription present = this.subscribed;
		return (present != null) ? present.end() : CompletableFuture.completedStage(null);
	}

}
