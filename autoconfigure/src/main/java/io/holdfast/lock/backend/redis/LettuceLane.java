package io.holdfast.lock.backend.redis;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

import io.holdfast.lock.support.SharedAttempt;

/**
 * A connection that requests share, opened for the first of them. A lost connection is
 * replaced for the next request, so that a failure has a cause and the sentinels are
 * asked again. So is one to a server that has become a replica. The connection to a
 * Cluster does both itself, for each node.
 */
final class LettuceLane {

	private final AtomicInteger inProgress = new AtomicInteger();

	private final Supplier<CompletionStage<LettuceConnection>> open;

	private final Runnable onReplicaLeft;

	private final AtomicBoolean leftReplica = new AtomicBoolean();

	private volatile SharedAttempt<LettuceConnection> connection;

	/**
	 * Creates a lane. Opens no connection.
	 * @param open opens a connection
	 * @param onReplicaLeft called at the first response on a connection that replaces one
	 * to a server that has become a replica. Until then, a connection that is opened may
	 * lead to the replica, too.
	 */
	LettuceLane(Supplier<CompletionStage<LettuceConnection>> open, Runnable onReplicaLeft) {
		this.open = open;
		this.onReplicaLeft = onReplicaLeft;
		this.connection = new SharedAttempt<>(open);
	}

	/** Returns how many requests wait for a response. */
	int inProgress() {
		return this.inProgress.get();
	}

	/** Whether there is a connection, as far as is known. */
	boolean isOpen() {
		SharedAttempt<LettuceConnection> present = this.connection;
		return present.hasSucceeded() && !present.get().toCompletableFuture().join().isLost();
	}

	/**
	 * Sends a request, after connecting if necessary.
	 * @param open returns another lane that is open, which sends the request if this one
	 * cannot connect
	 * @return the response; never throws
	 */
	<T> CompletionStage<T> send(Function<LettuceConnection, ? extends CompletionStage<T>> request,
			Supplier<Optional<LettuceLane>> open) {
		SharedAttempt<LettuceConnection> used = current();
		this.inProgress.incrementAndGet();
		return used.get()
			.handle((connection, failure) -> (failure == null) ? send(used, connection, request)
					: open.get()
						.map((other) -> other.send(request, Optional::empty))
						.orElseGet(() -> CompletableFuture.failedStage(failure)))
			.thenCompose(Function.identity())
			.whenComplete((value, failure) -> this.inProgress.decrementAndGet());
	}

	private <T> CompletionStage<T> send(SharedAttempt<LettuceConnection> used, LettuceConnection connection,
			Function<LettuceConnection, ? extends CompletionStage<T>> request) {
		return request.apply(connection).whenComplete((value, failure) -> {
			if (failure == null) {
				if (this.leftReplica.get() && this.connection == used && this.leftReplica.compareAndSet(true, false)) {
					this.onReplicaLeft.run();
				}
			}
			else if (RedisErrors.isReadOnly(failure) && replace(used)) {
				this.leftReplica.set(true);
			}
		});
	}

	private SharedAttempt<LettuceConnection> current() {
		SharedAttempt<LettuceConnection> present = this.connection;
		if (present.hasSucceeded() && present.get().toCompletableFuture().join().isLost()) {
			replace(present);
			return this.connection;
		}
		return present;
	}

	/** Replaces a connection. Returns {@code false} if that has been done. */
	private boolean replace(SharedAttempt<LettuceConnection> used) {
		synchronized (this) {
			if (this.connection != used) {
				return false;
			}
			this.connection = new SharedAttempt<>(this.open);
		}
		used.get().thenAccept((old) -> old.connection().closeAsync());
		return true;
	}

}
