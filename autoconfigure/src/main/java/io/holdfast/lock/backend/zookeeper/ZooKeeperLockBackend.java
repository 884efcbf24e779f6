package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.curator.framework.CuratorFramework;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
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
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Lock backend for ZooKeeper, with a wait queue of ephemeral sequential nodes for each
 * lock. A claim appends a node to the wait queue and reads the queue in one round trip,
 * unless it is proven to be alone. The first node holds the lock; shared claims hold it
 * together up to the first exclusive one. The token is the number of the transaction that
 * created the node ({@code czxid}).
 *
 * <p>
 * A lease lasts as long as the session: the session timeout that the server has granted,
 * counted from each renewal. A renewal checks the node with the leader. At the end of its
 * lease time, the engine releases a lock that is not renewed. Claims are granted in the
 * order of arrival.
 *
 * <p>
 * Thread-safe. Only {@link #verify()} blocks.
 */
public final class ZooKeeperLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "zookeeper";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE, Capability.SESSION_BOUND, Capability.DEMAND,
			Capability.ORDERED);

	private final ProvingCalls calls;

	private final QueueNodes queueNodes;

	private final WaitQueue queue;

	private final Suspension suspension;

	private final ZooKeeperClaims claims;

	private final ZooKeeperRenewals renewals;

	private final ZooKeeperLookup lookup;

	private final Runnable stopClock;

	/**
	 * Creates the backend.
	 * @param client the client, started or to be started; not closed by this backend
	 * @param options the options
	 */
	public ZooKeeperLockBackend(CuratorFramework client, ZooKeeperLockOptions options) {
		this(client, options, CuratorCalls.longestAge(client));
	}

	/**
	 * Creates the backend for a client whose age is known. How long a session of unknown
	 * age lasts must be proven first, which delays the first grants.
	 * @param client the client, started or to be started; not closed by this backend
	 * @param options the options
	 * @param longestAge an upper bound of the time since the client was started
	 */
	public ZooKeeperLockBackend(CuratorFramework client, ZooKeeperLockOptions options, Duration longestAge) {
		this(new CuratorCalls(client), options, new SystemSchedulingClock("holdfast-zookeeper"), longestAge);
	}

	private ZooKeeperLockBackend(ZooKeeperCalls calls, ZooKeeperLockOptions options, SystemSchedulingClock clock,
			Duration longestAge) {
		this(calls, options, clock, longestAge, clock::close);
	}

	/**
	 * Creates the backend with a given clock.
	 * @param calls sends the requests
	 * @param options the options
	 * @param clock the source of time
	 * @param longestAge an upper bound of the session's age
	 * @param stopClock called when the backend is closed
	 */
	ZooKeeperLockBackend(ZooKeeperCalls calls, ZooKeeperLockOptions options, SchedulingClock clock, Duration longestAge,
			Runnable stopClock) {
		this.calls = new ProvingCalls(calls, clock, clock.nanos() - longestAge.toNanos(), options.basePath());
		this.queueNodes = new QueueNodes(options.basePath(), options.namespace());
		this.queue = new WaitQueue(this.calls, this.queueNodes::end, clock);
		this.suspension = new Suspension(options.whenSuspended());
		this.renewals = new ZooKeeperRenewals(this.calls, this.queueNodes, this.suspension, clock);
		this.claims = new ZooKeeperClaims(this.calls, this.queueNodes, this.queue, this.suspension, this.renewals,
				clock);
		this.lookup = new ZooKeeperLookup(this.calls, this.queueNodes, this.queue, this.suspension, clock,
				UUID.randomUUID() + "-");
		this.stopClock = stopClock;
		this.calls.listen(this::stateChanged);
	}

	/**
	 * Checks whether ZooKeeper can keep locks, and blocks until it responds.
	 * @throws LockBackendException if ZooKeeper does not respond
	 * @throws LockConfigurationException if ZooKeeper denies access
	 */
	public void verify() {
		this.lookup.verify();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return CAPABILITIES;
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.calls.answersOn(thread);
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		return this.claims.send(claim);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return this.renewals.renew(grants);
	}

	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		return this.renewals.confirm(grant);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		QueueNode queueNode = this.queueNodes.of(grant);
		String path = (queueNode != null) ? queueNode.path() : null;
		if (queueNode == null || path == null) {
			return CompletableFuture.completedFuture(new ReleaseResult.NotHeld());
		}
		return this.queue.release(queueNode, path).handle((deleted, failure) -> {
			if (failure != null && !ZooKeeperCalls.isGone(failure)) {
				return ZooKeeperErrors.unknownRelease(failure, grant.claim().lock(), this.queueNodes.root());
			}
			this.queueNodes.end(queueNode);
			return (failure != null) ? new ReleaseResult.NotHeld() : new ReleaseResult.Released();
		});
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return this.claims.abandon(claim);
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return this.claims.delete(Claim.heldBy(lock, holder, CAPABILITIES.shortestLease())).thenApply((done) -> true);
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.lookup.find(lock);
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.lookup.status();
	}

	private void stateChanged(ZooKeeperCalls.Connection state) {
		this.suspension.changed(state);
		if (state == ZooKeeperCalls.Connection.LOST) {
			this.queueNodes.sessionLost(this.calls.session());
			this.queue.sessionLost();
		}
	}

	/** Returns the number of claims and grants in memory. */
	int remembered() {
		return this.queueNodes.size();
	}

	/**
	 * Stops listening to the connection and sending heartbeats. Locks that are still held
	 * end with the client's session.
	 */
	@Override
	public void close() {
		this.calls.close();
		this.stopClock.run();
	}

}
