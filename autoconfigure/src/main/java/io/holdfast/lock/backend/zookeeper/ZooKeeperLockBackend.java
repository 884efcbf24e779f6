package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;
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
 * Thread-safe. Never blocks.
 */
public final class ZooKeeperLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "zookeeper";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, true, true, false, true,
			Duration.ofMillis(100));

	/**
	 * Longest wait without a signal. This is a safety net, because a watch is lost only
	 * with its session.
	 */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private final ProvingCalls calls;

	private final QueueNodes queueNodes;

	private final WaitQueue queue;

	private final PredecessorWatch predecessorWatch;

	private final Suspension suspension;

	private final ZooKeeperRenewals renewals;

	private final ZooKeeperLookup lookup;

	private final SchedulingClock clock;

	private final Runnable stopClock;

	/**
	 * Creates the backend.
	 * @param client the client, started or to be started; not closed by this backend
	 * @param basePath the parent node of all locks, such as {@code /holdfast}
	 * @param namespace distinguishes the locks of this application from those of others
	 * @param whenSuspended how a check of a hold behaves while the connection is
	 * suspended
	 */
	public ZooKeeperLockBackend(CuratorFramework client, String basePath, String namespace,
			WhenSuspended whenSuspended) {
		this(client, basePath, namespace, whenSuspended, CuratorCalls.longestAge(client));
	}

	/**
	 * Creates the backend for a client whose age is known. How long a session of unknown
	 * age lasts must be proven first, which delays the first grants.
	 * @param client the client, started or to be started; not closed by this backend
	 * @param basePath the parent node of all locks, such as {@code /holdfast}
	 * @param namespace distinguishes the locks of this application from those of others
	 * @param whenSuspended how a check of a hold behaves while the connection is
	 * suspended
	 * @param longestAge an upper bound of the time since the client was started
	 */
	public ZooKeeperLockBackend(CuratorFramework client, String basePath, String namespace, WhenSuspended whenSuspended,
			Duration longestAge) {
		this(new CuratorCalls(client), basePath, namespace, whenSuspended,
				new SystemSchedulingClock("holdfast-zookeeper"), longestAge);
	}

	private ZooKeeperLockBackend(ZooKeeperCalls calls, String basePath, String namespace, WhenSuspended whenSuspended,
			SystemSchedulingClock clock, Duration longestAge) {
		this(calls, basePath, namespace, whenSuspended, clock, longestAge, clock::close);
	}

	/**
	 * Creates the backend.
	 * @param calls sends the requests
	 * @param basePath the parent node of all locks
	 * @param namespace distinguishes the locks of this application
	 * @param whenSuspended how a check of a hold behaves while the connection is
	 * suspended
	 * @param clock the source of time
	 * @param longestAge an upper bound of the session's age
	 * @param stopClock called when the backend is closed
	 */
	ZooKeeperLockBackend(ZooKeeperCalls calls, String basePath, String namespace, WhenSuspended whenSuspended,
			SchedulingClock clock, Duration longestAge, Runnable stopClock) {
		this.calls = new ProvingCalls(calls, clock, clock.nanos() - longestAge.toNanos(), basePath);
		this.queueNodes = new QueueNodes(basePath, namespace);
		this.queue = new WaitQueue(this.calls);
		this.predecessorWatch = new PredecessorWatch(this.calls);
		this.suspension = new Suspension(whenSuspended);
		this.renewals = new ZooKeeperRenewals(this.calls, this.queueNodes, this.suspension, clock);
		this.lookup = new ZooKeeperLookup(this.calls, this.queueNodes, this.suspension, clock);
		this.clock = clock;
		this.stopClock = stopClock;
		this.calls.listen(this::stateChanged);
	}

	/**
	 * Checks whether ZooKeeper is available, and blocks until it responds.
	 * @throws LockBackendException if ZooKeeper does not respond
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
		if (this.calls.session() == ZooKeeperCalls.UNKNOWN_SESSION) {
			return unknown("The client is not connected");
		}
		QueueNode queueNode = this.queueNodes.of(claim, this.suspension.count());
		if (queueNode.isEnded()) {
			return unknown("The claim was abandoned");
		}
		long sentAt = this.clock.nanos();
		if (queueNode.takeUnblocked(this.calls.session()) && queueNode.confirmedSince(this.suspension.count())) {
			// the leader is asked afterwards whether someone has deleted the node
			return granted(queueNode, claim, sentAt).thenApply(this.renewals::confirmAfterwards);
		}
		return this.queue.enqueue(queueNode)
			.thenCompose((queue) -> answer(queueNode, claim, queue, sentAt))
			.exceptionallyCompose(
					(failure) -> ZooKeeperErrors.failedAttempt(failure, claim.lock(), this.queueNodes.root()));
	}

	private CompletionStage<AcquireResult> answer(QueueNode queueNode, Claim claim, List<QueueNodeName> queue,
			long sentAt) {
		String path = queueNode.path(this.calls.session());
		QueueNodeName own = queue.stream()
			.filter((other) -> path != null && path.endsWith("/" + other.name()))
			.findFirst()
			.orElse(null);
		if (own == null) {
			queueNode.forget();
			return unknown("The claim's node is missing or from an older session");
		}
		if (own.isBeyondLimit()) {
			return CompletableFuture.failedFuture(ZooKeeperErrors.numbersUsedUp(claim.lock()));
		}
		return this.queue.withoutDuplicates(queueNode, queue, own).thenCompose((single) -> {
			List<QueueNodeName> blockers = own.blockers(single);
			return blockers.isEmpty() ? granted(queueNode, claim, sentAt) : contended(queueNode, claim, own, blockers);
		});
	}

	private CompletionStage<AcquireResult> granted(QueueNode queueNode, Claim claim, long sentAt) {
		this.predecessorWatch.stop(queueNode);
		CompletionStage<Void> revoked = queueNode.revoked();
		long czxid = queueNode.czxid();
		if (queueNode.isEnded() || czxid == 0) {
			return unknown("The claim was abandoned or its session ended");
		}
		Duration lease = this.calls.remainingSession(sentAt);
		if (lease == null) {
			return unknown("The session's validity is not proven yet");
		}
		if (!claim.renew() && claim.leaseTime().compareTo(lease) < 0) {
			lease = claim.leaseTime();
		}
		return CompletableFuture.completedFuture(new AcquireResult.Acquired(new Grant(claim, czxid, lease, revoked)));
	}

	private static CompletionStage<AcquireResult> unknown(String why) {
		return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(new IllegalStateException(why)));
	}

	private CompletionStage<AcquireResult> contended(QueueNode queueNode, Claim claim, QueueNodeName own,
			List<QueueNodeName> blockers) {
		if (claim.remainingWait().isZero()) {
			return withdraw(queueNode, () -> this.queue.leave(queueNode, own))
				.thenApply((done) -> AcquireResult.Contended.polled(LONGEST_WAIT));
		}
		return CompletableFuture.completedFuture(
				new AcquireResult.Contended(this.predecessorWatch.watch(queueNode, own, blockers), LONGEST_WAIT));
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
		QueueNode queueNode = this.queueNodes.of(claim, this.suspension.count());
		return withdraw(queueNode, () -> this.queue.leave(queueNode))
			.exceptionallyCompose((failure) -> CompletableFuture
				.failedFuture(ZooKeeperErrors.definiteOrCause(failure, claim.lock(), this.queueNodes.root())));
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.lookup.find(lock);
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.lookup.status();
	}

	private CompletableFuture<Void> withdraw(QueueNode queueNode, Supplier<CompletableFuture<Void>> delete) {
		CompletableFuture<Void> ended = this.queueNodes.abandon(queueNode, delete);
		this.predecessorWatch.stop(queueNode);
		return ended;
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
