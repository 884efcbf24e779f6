package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Answers the questions of operators about locks in ZooKeeper, and about ZooKeeper
 * itself.
 *
 * @param calls sends the requests
 * @param queueNodes knows the paths of the wait queues
 * @param queue creates nodes and deletes them
 * @param suspension knows the state of the connection
 * @param clock the source of time
 * @param client the name of this client's nodes in no wait queue of a lock
 */
record ZooKeeperLookup(ProvingCalls calls, QueueNodes queueNodes, WaitQueue queue, Suspension suspension,
		SchedulingClock clock, String client) {

	/** The wait queue of no lock: the name of each other one ends with a digest. */
	private static final String ACCESS_CHECK = "access";

	/** Of a lookup, because the holders of a busy lock may change all the time. */
	private static final int MOST_READINGS = 10;

	private static final Duration LONGEST_CONNECT = Duration.ofSeconds(1);

	/** Includes the creation of each node on the path. */
	private static final Duration LONGEST_ACCESS = Duration.ofSeconds(10);

	/**
	 * Reads the wait queue after the leader has answered, because a lagging server may
	 * show nodes of ended sessions. A lease lives with its session, whose end is unknown.
	 */
	CompletionStage<LockState> find(LockName lock) {
		String path = this.queueNodes.queue(lock);
		return this.calls.check(path)
			.thenCompose((current) -> read(lock, path, MOST_READINGS))
			.exceptionallyCompose((failure) -> ZooKeeperCalls.noNode(failure)
					? CompletableFuture.completedFuture(new LockState(lock, ZooKeeperLockBackend.NAME, List.of(), 0))
					: CompletableFuture
						.failedFuture(ZooKeeperErrors.definiteOrCause(failure, lock, this.queueNodes.root())));
	}

	/** Reads the wait queue, and reads it again if all holders leave it meanwhile. */
	private CompletableFuture<LockState> read(LockName lock, String path, int readings) {
		return this.calls.children(path).thenCompose((names) -> {
			List<QueueNodeName> queue = QueueNodeName.queue(names);
			return holders(path, queue).thenCompose((holders) -> {
				List<LockState.Holder> present = holders.stream().flatMap(Optional::stream).toList();
				if (!present.isEmpty() || holders.isEmpty()) {
					return CompletableFuture.completedFuture(
							new LockState(lock, ZooKeeperLockBackend.NAME, present, queue.size() - holders.size()));
				}
				return (readings > 1) ? read(lock, path, readings - 1) : CompletableFuture
					.failedFuture(new LockBackendException(
							"Lock '%s' (backend zookeeper): its holders change faster than they can be read. Repeat the query."
								.formatted(lock)));
			});
		});
	}

	/** Reads the holders; each is absent if it has left the wait queue meanwhile. */
	private CompletableFuture<List<Optional<LockState.Holder>>> holders(String path, List<QueueNodeName> queue) {
		List<CompletableFuture<Optional<LockState.Holder>>> holders = new ArrayList<>();
		for (QueueNodeName name : queue) {
			if (!name.blockers(queue).isEmpty()) {
				break;
			}
			holders.add(this.calls.stat(path + "/" + name.name())
				.thenApply((node) -> Optional
					.of(new LockState.Holder(name.owner(), name.shared() ? LockMode.SHARED : LockMode.EXCLUSIVE,
							Grant.fencingTokenOf(node.czxid()), null)))
				.exceptionallyCompose((failure) -> ZooKeeperCalls.noNode(failure)
						? CompletableFuture.completedFuture(Optional.empty())
						: CompletableFuture.failedFuture(failure)));
		}
		return Stages.all(holders);
	}

	/** Blocks until ZooKeeper has allowed what locks need, or fails. */
	void verify() {
		String root = this.queueNodes.root();
		try {
			// without a connection, this leaves no request that is sent later
			Stages.await(this.calls.sync(root), LONGEST_CONNECT);
			Stages.await(tryAccess(), LONGEST_ACCESS);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw ZooKeeperErrors.unreachable(ex, root);
		}
	}

	private CompletableFuture<Void> tryAccess() {
		return this.queue.tryAccess(this.queueNodes.root() + "/" + ACCESS_CHECK, this.client);
	}

	CompletionStage<StoreStatus> status() {
		if (this.suspension.isActive()) {
			return CompletableFuture.completedStage(StoreStatus.unavailable(details("suspended")));
		}
		if (this.calls.session() == ZooKeeperCalls.UNKNOWN_SESSION) {
			return CompletableFuture.failedStage(new IllegalStateException("the client is not connected"));
		}
		return tryAccess().thenApply((done) -> StoreStatus.available(details("connected")))
			.exceptionallyCompose((failure) -> CompletableFuture
				.failedFuture(ZooKeeperErrors.unavailable(failure, this.queueNodes.root())));
	}

	private Map<String, Object> details(String connection) {
		Map<String, Object> details = new LinkedHashMap<>();
		details.put("connection", connection);
		details.put("sessionTimeout", DurationText.of(this.calls.sessionTimeout()));
		Duration validity = this.calls.remainingSession(this.calls.session(), this.clock.nanos());
		details.put("validity", (validity != null) ? DurationText.of(validity) : "not proven");
		return details;
	}

}
