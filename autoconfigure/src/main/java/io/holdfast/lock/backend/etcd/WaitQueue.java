package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.etcd.EtcdTransaction.Condition;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Creates the keys of claims in the wait queues of their locks, and deletes them.
 */
final class WaitQueue {

	/**
	 * The maximum number of attempts. An ended lease and a passed epoch cost one each.
	 */
	private static final int MOST_ATTEMPTS = 4;

	private final EtcdCalls calls;

	private final EtcdKeys keys;

	private final Sessions sessions;

	private final SchedulingClock clock;

	WaitQueue(EtcdCalls calls, EtcdKeys keys, Sessions sessions, SchedulingClock clock) {
		this.calls = calls;
		this.keys = keys;
		this.sessions = sessions;
		this.clock = clock;
	}

	/**
	 * Creates a claim's key with a lease that has enough time left, and reads its
	 * predecessor. Retries with new ones if etcd has ended the lease or the key since
	 * their last use.
	 */
	CompletableFuture<QueuePosition> enqueue(QueueNode queueNode) {
		return attempt(queueNode, 1);
	}

	private CompletableFuture<QueuePosition> attempt(QueueNode queueNode, int number) {
		if (queueNode.isEnded()) {
			return CompletableFuture.failedFuture(new ClaimEndedException());
		}
		EtcdLease lease = queueNode.lease();
		if (lease != null && lease.hasEnded()) {
			queueNode.forgetLease(lease);
		}
		CompletableFuture<QueuePosition> attempt = queueNode.claim.renew() ? inSession(queueNode)
				: withOwnLease(queueNode);
		return attempt.exceptionallyCompose((failure) -> {
			Throwable cause = Stages.cause(failure);
			return (number < MOST_ATTEMPTS && mayRepeat(queueNode, cause)) ? attempt(queueNode, number + 1)
					: CompletableFuture.failedFuture(cause);
		});
	}

	private static boolean mayRepeat(QueueNode queueNode, Throwable cause) {
		if (queueNode.isGranted()) {
			return false;
		}
		if (cause instanceof EtcdCalls.KeyGoneException gone) {
			queueNode.forgetKey(gone.revision());
			return true;
		}
		if (cause instanceof EtcdCalls.KeyTakenException) {
			queueNode.renameKey();
			return true;
		}
		return cause instanceof EtcdCalls.EpochPassedException || cause instanceof Sessions.SessionOverException
				|| EtcdErrors.isLeaseGone(cause);
	}

	private CompletableFuture<QueuePosition> inSession(QueueNode queueNode) {
		Session present = queueNode.session();
		if (present != null) {
			return inSession(queueNode, present);
		}
		return this.sessions.enter(EtcdLease.seconds(queueNode.claim.leaseTime())).thenCompose((entered) -> {
			if (!queueNode.bind(entered.lease(), entered)) {
				entered.leave();
			}
			Session bound = queueNode.session();
			return (bound != null) ? inSession(queueNode, bound)
					: CompletableFuture.failedFuture(new ClaimEndedException());
		});
	}

	private CompletableFuture<QueuePosition> inSession(QueueNode queueNode, Session session) {
		return session.lease().fresh().thenCompose((lease) -> {
			long epoch = session.epoch();
			return send(queueNode, lease, epoch, new EtcdTransaction.Written(session.key(), epoch))
				.exceptionallyCompose((failure) -> (Stages.cause(failure) instanceof EtcdCalls.EpochPassedException)
						? session.passed(epoch).thenCompose((done) -> CompletableFuture.failedFuture(failure))
						: CompletableFuture.failedFuture(failure));
		});
	}

	/** Each attempt renews the lease, so a claim that has waited gets its full length. */
	private CompletableFuture<QueuePosition> withOwnLease(QueueNode queueNode) {
		EtcdLease present = queueNode.lease();
		if (present != null) {
			return present.renewed().thenCombine(send(queueNode, present, 0, null), (renewed, position) -> position);
		}
		long seconds = EtcdLease.seconds(queueNode.claim.leaseTime());
		return EtcdLease.grant(this.calls, this.clock, seconds).thenCompose((granted) -> {
			if (!queueNode.bind(granted, null)) {
				granted.revoke();
			}
			EtcdLease bound = queueNode.lease();
			return (bound != null) ? send(queueNode, bound, 0, null)
					: CompletableFuture.failedFuture(new ClaimEndedException());
		});
	}

	private CompletableFuture<QueuePosition> send(QueueNode queueNode, EtcdLease lease, long epoch,
			@Nullable Condition condition) {
		String rivals = this.keys.rivals(queueNode.claim);
		long revision = queueNode.revision();
		if (revision != 0) {
			return this.calls.readPredecessor(queueNode.key.name(), revision, rivals);
		}
		if (!queueNode.open(epoch)) {
			return CompletableFuture.failedFuture(new ClaimEndedException());
		}
		return this.calls
			.enqueue(queueNode.key.name(), queueNode.key.value(), lease.id(), rivals, condition,
					() -> queueNode.has(lease))
			.exceptionallyCompose((failure) -> EtcdErrors.isSpaceUsedUp(failure) ? deleteRejected(queueNode, failure)
					: CompletableFuture.failedFuture(failure))
			.whenComplete((position, failure) -> {
				if (position != null) {
					queueNode.keyExists(position.revision(), lease);
				}
				else if (isAnswer(failure)) {
					queueNode.answered();
				}
				if (failure != null && EtcdErrors.isLeaseGone(failure)) {
					lease.end();
				}
			});
	}

	/**
	 * Deletes the key that a rejected request may have created: etcd carries out the one
	 * that uses up its quota. Fails with the rejection if no key is left. A later attempt
	 * may have been granted before the rejection came, with that key or another one. Then
	 * the end of the hold deletes what is left.
	 */
	private CompletableFuture<QueuePosition> deleteRejected(QueueNode queueNode, Throwable rejection) {
		if (!queueNode.releaseUnlessGranted()) {
			return CompletableFuture.failedFuture(rejection);
		}
		return delete(queueNode, 0).handle((deleted, failure) -> failure)
			.thenCompose((failure) -> CompletableFuture.failedFuture((failure == null) ? rejection
					: new IllegalStateException("A rejected request may have created the key", failure)));
	}

	/**
	 * Whether etcd has reported that it has not created the key, and will not create it.
	 */
	private static boolean isAnswer(Throwable failure) {
		Throwable cause = Stages.cause(failure);
		return cause instanceof EtcdCalls.KeyGoneException || cause instanceof EtcdCalls.KeyTakenException
				|| cause instanceof EtcdCalls.EpochPassedException || EtcdErrors.isLeaseGone(cause)
				|| EtcdErrors.refusal(cause) != null;
	}

	/**
	 * Deletes the key of a claim that has ended; returns whether it was still the one
	 * that this revision created. Only the response to the deletion proves that: jetcd
	 * may have sent the revocation of a lease twice, so its response is ambiguous.
	 */
	CompletableFuture<Boolean> release(QueueNode queueNode, long revision) {
		EtcdLease own = ownLease(queueNode);
		if (own == null) {
			return deleteLast(queueNode, revision);
		}
		CompletableFuture<Boolean> wasCurrent = delete(queueNode, revision);
		return wasCurrent.thenCompose((answer) -> own.revoke().handle((done, failure) -> {
			if (failure != null && queueNode.isOpen()) {
				throw new IllegalStateException("A pending request may still create the key", failure);
			}
			return answer;
		}));
	}

	/**
	 * Moves the key of a claim that has ended to a new lease that is not renewed. Returns
	 * whether the key was still the one that this revision created.
	 */
	CompletableFuture<Boolean> retain(QueueNode queueNode, long revision, Duration remaining) {
		return EtcdLease.grant(this.calls, this.clock, EtcdLease.seconds(remaining))
			.thenCompose((lease) -> this.calls.move(queueNode.key.name(), revision, queueNode.key.value(), lease.id())
				.thenCompose((moved) -> {
					EtcdLease unused = moved ? ownLease(queueNode) : lease;
					return (unused != null) ? unused.revoke().handle((done, failure) -> moved)
							: CompletableFuture.completedFuture(moved);
				}));
	}

	/**
	 * Deletes the key of a claim that has ended, whatever its state, so that no request
	 * under way can create it afterwards.
	 */
	CompletableFuture<?> leave(QueueNode queueNode) {
		EtcdLease lease = queueNode.lease();
		if (lease == null || lease.hasEnded() || (!queueNode.isOpen() && queueNode.revision() == 0)) {
			return CompletableFuture.completedFuture(null);
		}
		EtcdLease own = ownLease(queueNode);
		if (own != null) {
			return own.revoke();
		}
		return deleteLast(queueNode, queueNode.revision());
	}

	/**
	 * Deletes the key once no request can create it any more. If etcd rejects what
	 * ensures that, as it does while its quota is used up, deletes the present key for
	 * the claims behind it, and fails.
	 */
	private CompletableFuture<Boolean> deleteLast(QueueNode queueNode, long revision) {
		return noneUnderWay(queueNode).handle((done, failure) -> failure).thenCompose((failure) -> {
			if (failure == null) {
				return delete(queueNode, revision);
			}
			return (EtcdErrors.refusal(failure) != null)
					? delete(queueNode, revision).thenCompose((deleted) -> CompletableFuture.failedFuture(failure))
					: CompletableFuture.failedFuture(failure);
		});
	}

	private CompletableFuture<Boolean> delete(QueueNode queueNode, long revision) {
		return this.calls.delete(queueNode.key.name(), queueNode.key.value(), revision);
	}

	/** Completes when no request can create the key any more. */
	private static CompletableFuture<Void> noneUnderWay(QueueNode queueNode) {
		Session session = queueNode.session();
		return (session != null && queueNode.isOpen()) ? session.passed(queueNode.openEpoch())
				: CompletableFuture.completedFuture(null);
	}

	/**
	 * Returns the lease that belongs to this claim alone, or {@code null} if there is
	 * none.
	 */
	private static @Nullable EtcdLease ownLease(QueueNode queueNode) {
		return queueNode.claim.renew() ? null : queueNode.lease();
	}

	/**
	 * Thrown when a claim was abandoned, released, or lost while an attempt was prepared.
	 */
	private static final class ClaimEndedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		ClaimEndedException() {
			super("The claim has ended");
		}

	}

}
