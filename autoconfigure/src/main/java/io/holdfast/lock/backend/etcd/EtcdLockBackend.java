package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;

import io.etcd.jetcd.ClientBuilder;

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
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Lock backend for etcd, with a wait queue of keys for each lock. One transaction appends
 * a claim's key to the wait queue and reads its predecessor. The first key holds the
 * lock; shared claims hold it together up to the first exclusive one. The token is the
 * revision that created the key. Revisions are unique and follow the order of the queue.
 *
 * <p>
 * Each key is attached to a lease. Renewed claims with the same lease time share one
 * lease, which this JVM keeps alive. Every other claim has its own. Leases are in whole
 * seconds, and etcd may grant longer ones than requested. Claims are granted in the order
 * of arrival.
 *
 * <p>
 * The key of a claim whose lease may be sticky says so. Its holder watches the wait queue
 * for claims that enter it.
 *
 * <p>
 * Thread-safe. Only {@link #verify()} and {@link #close()} block.
 */
public final class EtcdLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "etcd";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofSeconds(2),
			Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE, Capability.SESSION_BOUND, Capability.DEMAND);

	/** Each of them has a stream to etcd. All others end with their last hold. */
	private static final int MOST_STICKY_LEASES = 1_000;

	private final EtcdClient client;

	private final EtcdCalls calls;

	private final EtcdKeys keys;

	private final Sessions sessions;

	final QueueNodes queueNodes;

	private final WaitQueue queue;

	private final ClaimEnds ends;

	private final ClaimResults results;

	private final EtcdRenewals renewals;

	private final EtcdLookup lookup;

	private final SchedulingClock clock;

	private final Runnable stopClock;

	/**
	 * Creates the backend with a client of its own, which connects on the first request.
	 * The client has its own threads, also if the builder has an executor.
	 * @param where the endpoints and credentials of etcd
	 * @param options the options
	 */
	public EtcdLockBackend(ClientBuilder where, EtcdLockOptions options) {
		this(JetcdClient.create(where, options.responseTimeout()), options.namespace(),
				new SystemSchedulingClock("holdfast-etcd"));
	}

	private EtcdLockBackend(EtcdClient client, String namespace, SystemSchedulingClock clock) {
		this(client, namespace, OwnerId.random().value(), clock, clock::close);
	}

	/**
	 * Creates the backend with a given client and clock.
	 * @param client sends the requests; closed with the backend
	 * @param namespace distinguishes the locks of this application
	 * @param id distinguishes the keys of this client; without a dot
	 * @param clock the source of time
	 * @param stopClock called when the backend is closed
	 */
	EtcdLockBackend(EtcdClient client, String namespace, String id, SchedulingClock clock, Runnable stopClock) {
		this.client = client;
		this.keys = new EtcdKeys(namespace, id);
		this.calls = new EtcdCalls(client, this.keys.root());
		this.queueNodes = new QueueNodes(this.keys);
		this.sessions = new Sessions(this.calls, this.keys, clock, this::sessionEnded);
		this.queue = new WaitQueue(this.calls, this.keys, this.sessions, clock);
		this.ends = new ClaimEnds(this.queueNodes, this.queue, this.keys);
		this.results = new ClaimResults(this.calls, this.keys, clock, new Semaphore(MOST_STICKY_LEASES),
				this.ends::withdraw, this.ends::lost);
		this.renewals = new EtcdRenewals(this.calls, this.queueNodes, this.ends, clock);
		this.lookup = new EtcdLookup(this.calls, this.keys, this.sessions);
		this.clock = clock;
		this.stopClock = stopClock;
	}

	/**
	 * Checks whether etcd can keep locks, and blocks until it responds.
	 * @throws LockBackendException if etcd does not respond
	 * @throws LockConfigurationException if etcd denies access
	 */
	public void verify() {
		try {
			this.calls.tryAccess().join();
		}
		catch (RuntimeException ex) {
			throw EtcdErrors.unreachable(ex, this.keys.root());
		}
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
		return this.client.answersOn(thread);
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		QueueNode queueNode = this.queueNodes.of(claim);
		if (queueNode.isReleased()) {
			// an owner whose release is still under way starts over
			return startOver(claim, this.ends.withdraw(queueNode));
		}
		long sentAt = this.clock.nanos();
		return this.queue.enqueue(queueNode)
			.thenCompose((position) -> this.results.of(queueNode, claim, position, sentAt))
			.exceptionallyCompose((failure) -> failed(queueNode, claim, Stages.cause(failure)));
	}

	/** Requests the lock again when the former hold of the owner has ended. */
	private CompletionStage<AcquireResult> startOver(Claim claim, CompletableFuture<Void> end) {
		return end.handle((done, failure) -> failure)
			.thenCompose((failure) -> (failure == null) ? tryAcquire(claim)
					: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(Stages.cause(failure))));
	}

	private CompletionStage<AcquireResult> failed(QueueNode queueNode, Claim claim, Throwable cause) {
		long revision = queueNode.revision();
		if (queueNode.isGranted() && EtcdErrors.isKeyGone(cause, queueNode) && queueNode.end()) {
			// an owner that was overtaken is enqueued again
			return startOver(claim, this.ends.lost(queueNode, revision));
		}
		LockBackendException definite = EtcdErrors.definite(cause, claim.lock(), this.keys.root());
		if (definite == null) {
			return CompletableFuture
				.completedFuture(new AcquireResult.Indeterminate(EtcdErrors.unknown(cause, this.keys.root())));
		}
		if (!queueNode.isOpen() && queueNode.revision() == 0) {
			this.queueNodes.end(queueNode);
		}
		return CompletableFuture.failedFuture(definite);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return this.renewals.renew(grants);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		return this.ends.release(grant);
	}

	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		return this.ends.retain(grant, remaining);
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		return explained(this.ends.withdraw(claim), claim.lock());
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return explained(this.lookup.find(lock), lock);
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return explained(this.lookup.revoke(lock, holder), lock);
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.lookup.status()
			.exceptionallyCompose(
					(failure) -> CompletableFuture.failedStage(EtcdErrors.unavailable(failure, this.keys.root())));
	}

	/** Names the remedy if etcd has rejected a request about a lock. */
	private <T> CompletionStage<T> explained(CompletionStage<T> answer, LockName lock) {
		return answer.exceptionallyCompose((failure) -> CompletableFuture
			.failedStage(EtcdErrors.definiteOrCause(failure, lock, this.keys.root())));
	}

	private void sessionEnded(Session session) {
		this.ends.sessionEnded(session);
	}

	/** Revokes everything that this JVM still holds in etcd, and closes the client. */
	@Override
	public void close() {
		this.stopClock.run();
		List<CompletableFuture<?>> ends = new ArrayList<>(this.sessions.end());
		this.queueNodes.all()
			.stream()
			.filter((queueNode) -> !queueNode.claim.renew())
			.map(this.queue::leave)
			.forEach(ends::add);
		CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).handle((done, failure) -> done).join();
		this.client.close();
	}

}
