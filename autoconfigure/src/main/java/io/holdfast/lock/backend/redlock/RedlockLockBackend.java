package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.SystemSchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * Lock backend for several independent Redis masters. An owner holds a lock if a majority
 * has granted it. All nodes are asked in parallel, and those that are down, frozen or
 * slow are not waited for. Supports shared claims.
 *
 * <p>
 * Thread-safe. Does not block the caller, except in {@link #verify()},
 * {@link #awaitVotes(Duration)} and {@link #close()}.
 */
public final class RedlockLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "redlock";

	/** Two rounds and a slow node could use up a shorter lease. */
	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(200),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.DEMAND);

	/** The next claim follows a release on each node, also on one that is late. */
	private static final BackendCapabilities ORDERED = new BackendCapabilities(CAPABILITIES.shortestLease(),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.DEMAND, Capability.ORDERED);

	private static final int FEWEST_NODES = 3;

	/** Attempts that at least one node has not answered yet. */
	private final AttemptsUnderWay underWay = new AttemptsUnderWay();

	private final NotifiedTokens notified;

	/**
	 * The number of the latest attempt. The odd numbers belong to the locks that nodes
	 * keep.
	 */
	private final AtomicLong attempts = new AtomicLong();

	private final RedlockNodes nodes;

	private final RedlockLockOptions options;

	private final Runnable stopClock;

	private final RedlockErrors errors;

	private final RedlockRenewals renewals;

	private final RedlockReleases releases;

	private final RedlockLookup lookup;

	private final BackendCapabilities capabilities;

	/**
	 * Creates the backend. Sends no request.
	 * @param nodes the masters; {@link #close()} shuts their clients down
	 * @param options how locks are kept
	 * @throws LockConfigurationException if the number of nodes is less than three or
	 * even
	 */
	public RedlockLockBackend(List<RedisNode> nodes, RedlockLockOptions options) {
		this(nodes, options, new SystemSchedulingClock("holdfast-redlock-timer"));
	}

	private RedlockLockBackend(List<RedisNode> nodes, RedlockLockOptions options, SystemSchedulingClock clock) {
		this(nodes.stream().<NodeClient>map(NodeClient.OfRedis::new).toList(), options, clock, clock::close);
	}

	/**
	 * Creates the backend with a given clock. Sends no request.
	 * @param nodes the masters; {@link #close()} shuts their clients down
	 * @param options how locks are kept
	 * @param clock measures time and runs timeouts
	 * @param stopClock called when the backend is closed
	 * @throws LockConfigurationException if the number of nodes is less than three or
	 * even
	 */
	RedlockLockBackend(List<NodeClient> nodes, RedlockLockOptions options, SchedulingClock clock, Runnable stopClock) {
		checkCount(nodes.size());
		this.options = options;
		this.stopClock = stopClock;
		this.notified = new NotifiedTokens(clock);
		this.nodes = new RedlockNodes(nodes, options, clock);
		this.errors = new RedlockErrors(this.nodes, options);
		this.renewals = new RedlockRenewals(this.nodes, options, this.errors, this.notified);
		this.releases = new RedlockReleases(this.nodes, this.errors, this.notified, this.underWay);
		this.lookup = new RedlockLookup(this.nodes, options, this.errors);
		this.capabilities = nodes.stream().allMatch(NodeClient::isOrdered) ? ORDERED : CAPABILITIES;
	}

	/**
	 * Validates the number of nodes.
	 * @param count the number of nodes
	 * @throws LockConfigurationException if it is less than three or even
	 */
	public static void checkCount(int count) {
		if (count < FEWEST_NODES) {
			throw new LockConfigurationException(
					"'distributed-lock.redlock.nodes' lists %s nodes. Redlock needs an odd number of at least 3; with fewer, none may fail. List more independent Redis masters, or use the backend 'redis'."
						.formatted(count));
		}
		if (count % 2 == 0) {
			throw new LockConfigurationException(
					"'distributed-lock.redlock.nodes' lists %s nodes, which tolerate no more failures than %s. Add or remove one."
						.formatted(count, count - 1));
		}
	}

	/**
	 * Connects to all nodes, and checks that a majority permits everything that locks
	 * need. Without this call, the first use connects.
	 * @throws LockBackendException if no majority can be reached
	 * @throws LockConfigurationException if two nodes are the same server
	 */
	public void verify() {
		new QuorumStartupCheck(this.nodes, this.errors).verify();
	}

	/**
	 * Waits until a majority may vote, if the restart quarantine keeps nodes from voting
	 * that remember nothing of earlier locks.
	 * @param longest the longest wait; if more time is needed, this method does not wait
	 * at all
	 */
	public void awaitVotes(Duration longest) {
		if (this.options.restartQuarantine()) {
			new QuorumStartupCheck(this.nodes, this.errors).awaitVotes(longest);
		}
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.capabilities;
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return Stages.attempt(() -> {
			QuorumAcquisition attempt = new QuorumAcquisition(this.nodes, this.options, this.errors, claim,
					this.attempts.addAndGet(2), this.notified, this.underWay);
			this.underWay.add(claim.owner(), attempt);
			this.nodes.all().forEach((node) -> node.missed().forget(claim));
			return attempt.run();
		});
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return Stages.attempt(() -> this.renewals.renew(grants));
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return Stages.attempt(() -> this.releases.release(grant.claim()));
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return Stages.attempt(() -> this.releases.withdraw(claim));
	}

	/**
	 * Waits for all nodes, and fails if this call has ended the lease only on a minority
	 * of them, because another one has ended it on others.
	 */
	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		Claim claim = Claim.heldBy(lock, holder, this.capabilities.shortestLease());
		return Stages.attempt(() -> this.releases.revoke(claim));
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return Stages.attempt(() -> this.lookup.find(lock));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return status(this.options.nodeTimeout());
	}

	@Override
	public CompletionStage<StoreStatus> status(Duration timeout) {
		return Stages.attempt(() -> this.lookup.status(timeout));
	}

	/** Returns how many attempts at least one node has not answered. */
	int underWay() {
		return this.underWay.size();
	}

	/** Returns how many releases nodes have not confirmed. */
	int unconfirmed() {
		return IntStream.range(0, this.nodes.count()).map(this::unconfirmed).sum();
	}

	/** Returns how many releases the node with this index has not confirmed. */
	int unconfirmed(int node) {
		return this.nodes.all().get(node).missed().unconfirmed();
	}

	/** Returns the identity of this JVM as a subscriber. */
	String instance() {
		return this.nodes.notifications().instance();
	}

	/** Returns how many nodes notify this JVM. */
	long listening() {
		return this.nodes.all().stream().filter(RedlockNode::isListening).count();
	}

	/** Returns how many claims and leases of this JVM expect a message. */
	int waiting() {
		return this.nodes.notifications().size();
	}

	/**
	 * Shuts the clients down.
	 */
	@Override
	public void close() {
		List<Thread> threads = new ArrayList<>();
		for (RedlockNode node : this.nodes.all()) {
			Thread thread = Threads.daemon("holdfast-redlock-close", node::close);
			thread.start();
			threads.add(thread);
		}
		try {
			for (Thread thread : threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.stopClock.run();
	}

	@Override
	public String toString() {
		return "RedlockLockBackend" + this.nodes.all();
	}

}
