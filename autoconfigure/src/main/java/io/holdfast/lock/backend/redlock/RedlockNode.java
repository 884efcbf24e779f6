package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SharedAttempt;

/**
 * One of the masters. Connects at the first use, independently of the other nodes.
 */
final class RedlockNode {

	private static final GuardedLog logger = GuardedLog.of(RedlockNode.class);

	/** The server's run id. */
	private final SharedAttempt<String> connection = new SharedAttempt<>(this::probe);

	private final SharedAttempt<Boolean> subscription = new SharedAttempt<>(this::subscribe);

	/** Releases that await the response to the attempt before them, by their lock. */
	private final Map<LockName, CompletionStage<?>> lateReleases = new ConcurrentHashMap<>();

	private final AtomicBoolean reported = new AtomicBoolean();

	private final AtomicBoolean reportedAsSame = new AtomicBoolean();

	private final NodeClient redis;

	private final RedlockKeys keys;

	private final Quarantine quarantine;

	private final NodeBacklog backlog;

	private final MissedRequests missed = new MissedRequests();

	private final ReleaseNotifications notifications;

	/**
	 * Creates a node.
	 * @param redis the node's client
	 * @param keys its keys
	 * @param quarantine its right to vote
	 * @param backlog limits the requests to the node while it does not respond
	 * @param notifications receives the notifications from the node
	 */
	RedlockNode(NodeClient redis, RedlockKeys keys, Quarantine quarantine, NodeBacklog backlog,
			ReleaseNotifications notifications) {
		this.redis = redis;
		this.keys = keys;
		this.quarantine = quarantine;
		this.backlog = backlog;
		this.notifications = notifications;
	}

	String address() {
		return this.redis.address();
	}

	Quarantine quarantine() {
		return this.quarantine;
	}

	MissedRequests missed() {
		return this.missed;
	}

	/**
	 * Runs a script, after connecting if necessary.
	 * @return the script's result; never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return runIf(() -> true, script, keys, args);
	}

	/**
	 * Runs a script if it is still wanted after connecting.
	 */
	CompletionStage<List<Object>> runIf(BooleanSupplier wanted, RedisScript script, List<Object> keys, Object... args) {
		if (isConnected()) {
			return send(script, keys, args);
		}
		return connect().exceptionally(RedlockNode::notSent).thenCompose((runId) -> {
			if (!wanted.getAsBoolean()) {
				throw new NotSentException("the attempt was over before the node was connected");
			}
			return send(script, keys, args);
		});
	}

	/** The request cannot be late, because it follows the connection. */
	private static String notSent(Throwable failure) {
		throw RedisNode.isDefinite(failure) ? new CompletionException(failure)
				: new NotSentException("the node could not be connected", failure);
	}

	private CompletionStage<List<Object>> send(RedisScript script, List<Object> keys, Object... args) {
		return this.backlog.send(() -> this.redis.run(script, keys, args));
	}

	/**
	 * Sends a release after the response to the attempt that it ends. Until the node has
	 * responded to both, {@link #lateRelease} returns it.
	 */
	CompletionStage<List<Object>> releaseAfter(CompletableFuture<?> attempt, LockName lock,
			Supplier<CompletionStage<List<Object>>> release) {
		if (attempt.isDone()) {
			return release.get();
		}
		CompletionStage<List<Object>> late = attempt.thenCompose((response) -> release.get());
		this.lateReleases.put(lock, late);
		late.whenComplete((response, failure) -> this.lateReleases.remove(lock, late));
		return late;
	}

	/**
	 * Returns a release that the next attempt for this lock should follow. It would
	 * otherwise meet the lock of a claim that has ended, and wait behind it. On a node
	 * that is late, each attempt would wait behind all earlier ones, and the longer its
	 * wait queue becomes, the later the node is.
	 * @return the release, or {@code null} if there is none
	 */
	@Nullable CompletionStage<?> lateRelease(LockName lock) {
		return this.lateReleases.get(lock);
	}

	/**
	 * Connects unless this has succeeded before. Concurrent callers share one attempt.
	 * @return the server's run id
	 */
	CompletionStage<String> connect() {
		return this.connection.get();
	}

	/**
	 * Whether a connection has succeeded, though it may be lost by now. No request is
	 * sent before that, except the one that checks the node.
	 */
	boolean isConnected() {
		return this.connection.hasSucceeded();
	}

	/**
	 * Subscribes to notifications, if connected and not subscribed already.
	 */
	void listen() {
		if (isConnected()) {
			this.subscription.get();
		}
	}

	/** Whether notifications from the node reach this JVM. */
	boolean isListening() {
		return this.subscription.hasSucceeded();
	}

	private CompletionStage<String> probe() {
		return this.redis.connect(RedlockScripts.PROBE, this.keys.ofProbe(), probeArguments()).thenApply((answer) -> {
			warnOfEviction((String) answer.get(2));
			return (String) answer.get(0);
		}).thenCompose((runId) -> this.subscription.get().handle((subscribed, failure) -> runId));
	}

	private CompletionStage<Boolean> subscribe() {
		return this.redis
			.subscribe(this.notifications.channels() + this.notifications.instance(),
					(message) -> this.notifications.received(this, message))
			.<Boolean>thenApply((listener) -> true)
			.whenComplete((subscribed, failure) -> {
				if (failure != null) {
					reportOnce(failure);
				}
			});
	}

	private void reportOnce(Throwable failure) {
		if (RedisNode.isDefinite(failure) && this.reported.compareAndSet(false, true)) {
			logger.warn(
					"Redis at %s rejects the subscription to '%s*' (%s). Waiters poll instead, which is slower. Grant the user this channel."
						.formatted(this, this.notifications.channels(), RedisNode.describe(failure)));
		}
		logger.debug("Cannot subscribe to release notifications yet", failure);
	}

	/**
	 * Checks again whether the node permits everything that locks need.
	 * @return 1 if it votes, else 0, and the run id
	 */
	CompletionStage<List<Object>> check() {
		return run(RedlockScripts.PROBE, this.keys.ofProbe(), probeArguments())
			.thenApply((answer) -> List.of(answer.get(1).equals("") ? 1L : 0L, answer.get(0)));
	}

	private Object[] probeArguments() {
		return new Object[] { RedlockKeys.random(), this.notifications.channels() + "probe" };
	}

	/** Reports once that this node and another are the same server. */
	void report(SameServerException failure) {
		if (this.reportedAsSame.compareAndSet(false, true)
				&& failure.other().reportedAsSame.compareAndSet(false, true)) {
			logger.warn(failure.getMessage());
		}
	}

	private void warnOfEviction(String policy) {
		if (!policy.isEmpty()) {
			logger.warn(
					"Redis at %s may evict locks when its memory is full: its maxmemory-policy is '%s', and every lock has an expiry. Set 'noeviction', or use separate nodes for locks."
						.formatted(this, policy));
		}
	}

	void close() {
		this.redis.close();
	}

	@Override
	public String toString() {
		return address();
	}

}
