package io.holdfast.lock.backend.etcd;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.etcd.EtcdTransaction.Condition;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Created;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Delete;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Get;
import io.holdfast.lock.backend.etcd.EtcdTransaction.GetNewest;
import io.holdfast.lock.backend.etcd.EtcdTransaction.HasValue;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Key;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Operation;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Put;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Written;

/**
 * Sends the requests that locks need, without blocking.
 */
final class EtcdCalls {

	/** The maximum number of operations in a transaction; etcd's default limit is 128. */
	static final int OPERATIONS = 100;

	private final EtcdClient client;

	private final String root;

	/**
	 * Creates the calls.
	 * @param root the prefix of all keys of the application
	 */
	EtcdCalls(EtcdClient client, String root) {
		this.client = client;
		this.root = root;
	}

	CompletableFuture<EtcdClient.GrantedLease> grantLease(long seconds) {
		return this.client.grantLease(seconds);
	}

	/**
	 * Renews a lease; returns the number of seconds that it lasts. Fails unless a
	 * majority confirms the leader that has renewed it: a leader that was paused or cut
	 * off answers, but the next one does not know of the renewal.
	 * @param term the term of the leader that a majority has confirmed since the time
	 * from which the renewal counts
	 */
	CompletableFuture<Long> keepAlive(long lease, CompletableFuture<Long> term) {
		return this.client.keepAlive(lease).thenCompose((renewed) -> term.thenApply((confirmed) -> {
			if (renewed.term() != confirmed) {
				throw new FormerLeaderException();
			}
			return renewed.seconds();
		}));
	}

	/** Returns the term of the leader, confirmed by a majority. */
	CompletableFuture<Long> term() {
		return this.client.commit(EtcdTransaction.of(new Get(this.root))).thenApply(EtcdTransaction.Answer::term);
	}

	CompletableFuture<Long> timeToLive(long lease) {
		return this.client.timeToLive(lease);
	}

	CompletableFuture<?> revoke(long lease) {
		return this.client.revoke(lease);
	}

	/** Writes a key attached to a lease; returns the revision of etcd after the write. */
	CompletableFuture<Long> put(String key, long lease) {
		return this.client.commit(EtcdTransaction.of(new Put(key, "", lease)))
			.thenApply(EtcdTransaction.Answer::revision);
	}

	/** Whether a key exists that was created at a given revision or before. */
	CompletableFuture<Boolean> exists(String key, long revision) {
		return this.client.commit(EtcdTransaction.of(new Get(key))).thenApply((answer) -> {
			long created = created(answer.read().get(0));
			return created != 0 && created <= revision;
		});
	}

	/**
	 * Creates a claim's key unless it exists already, and reads its predecessor. Takes
	 * one round trip, or two if the key exists already. Idempotent. Fails with
	 * {@link KeyTakenException} if another claim has the key.
	 * @param epoch the condition on the session's epoch for creating the key, or
	 * {@code null} if the key is not attached to a session
	 * @param present whether the claim still has this lease
	 */
	CompletableFuture<QueuePosition> enqueue(String key, String value, long lease, String rivals,
			@Nullable Condition epoch, BooleanSupplier present) {
		List<Condition> conditions = Stream.of(new Created(key, 0), epoch).filter(Objects::nonNull).toList();
		// two, because the newest one is this key itself, except in shared mode
		List<Operation> enqueue = List.of(new Put(key, value, lease), new GetNewest(rivals, 2, 0));
		return this.client.commit(new EtcdTransaction(conditions, enqueue, List.of(new Get(key))))
			.thenCompose((answer) -> {
				List<Key> read = answer.read().get(0);
				if (answer.succeeded()) {
					return CompletableFuture.completedFuture(
							new QueuePosition(answer.revision(), other(read, key), answer.revision(), false));
				}
				if (read.isEmpty()) {
					return CompletableFuture.failedFuture(new EpochPassedException());
				}
				if (!read.get(0).value().equals(value)) {
					return CompletableFuture.failedFuture(new KeyTakenException(key));
				}
				// an earlier attempt created the key: its response or its lease was lost.
				// Or a later one did, with another lease
				return present.getAsBoolean() ? attach(new Put(key, value, lease), read.get(0), rivals, epoch)
						: CompletableFuture.failedFuture(new EpochPassedException());
			});
	}

	/**
	 * Attaches a claim's key to the lease of its latest attempt, and reads its
	 * predecessor. The lease of an earlier attempt is no longer renewed: etcd may have
	 * reported that it does not exist, although it does. Only the first of several
	 * requests that have found the same key has an effect, so a late one has none.
	 */
	private CompletableFuture<QueuePosition> attach(Put put, Key found, String rivals, @Nullable Condition epoch) {
		long revision = found.created();
		List<Condition> conditions = Stream.of(new Written(found.name(), found.written()), epoch)
			.filter(Objects::nonNull)
			.toList();
		List<Operation> attach = Stream.concat(Stream.of(put), predecessor(put.key(), revision, rivals).stream())
			.toList();
		return this.client.commit(new EtcdTransaction(conditions, attach, List.of(new Get(put.key()))))
			.thenApply((answer) -> {
				if (answer.succeeded()) {
					return position(put.key(), revision, answer);
				}
				if (created(answer.read().get(0)) == revision) {
					throw new EpochPassedException();
				}
				throw new KeyGoneException(revision);
			});
	}

	/**
	 * Reads the predecessor of a key that is in the wait queue and, if its lease is
	 * sticky, whether it has successors. Fails with {@link KeyGoneException} if the key
	 * is gone. Never returns stale data.
	 */
	CompletableFuture<QueuePosition> readPredecessor(String key, long revision, String rivals) {
		EtcdTransaction read = new EtcdTransaction(List.of(new Created(key, revision)),
				predecessor(key, revision, rivals), List.of());
		return this.client.commit(read).thenApply((answer) -> {
			if (!answer.succeeded()) {
				throw new KeyGoneException(revision);
			}
			return position(key, revision, answer);
		});
	}

	private static List<Operation> predecessor(String key, long revision, String rivals) {
		Operation before = new GetNewest(rivals, 1, revision - 1);
		return EtcdKeys.isSticky(key) ? List.of(before, new GetNewest(rivals, 1, 0)) : List.of(before);
	}

	private static QueuePosition position(String key, long revision, EtcdTransaction.Answer answer) {
		boolean wanted = answer.read().size() > 1 && other(answer.read().get(1), key) != null;
		return new QueuePosition(revision, other(answer.read().get(0), key), answer.revision(), wanted);
	}

	/** Reads all keys with a prefix, oldest first. Never returns stale data. */
	CompletableFuture<List<EtcdClient.LeasedKey>> list(String prefix) {
		return this.client.list(prefix);
	}

	/**
	 * Deletes the key of the claim with this value, whichever revision created it;
	 * returns whether it was this one. A late request leaves the next claim with the same
	 * key alone.
	 */
	CompletableFuture<Boolean> delete(String key, String value, long revision) {
		return this.client
			.commit(new EtcdTransaction(List.of(new HasValue(key, value)), List.of(new Get(key), new Delete(key)),
					List.of()))
			.thenApply((answer) -> answer.succeeded() && created(answer.read().get(0)) == revision);
	}

	/** Deletes a key if this revision created it; returns whether it did. */
	CompletableFuture<Boolean> delete(String key, long revision) {
		return this.client.commit(onlyIf(key, revision, new Delete(key))).thenApply(EtcdTransaction.Answer::succeeded);
	}

	/**
	 * Moves a key to another lease; returns whether the key was still the one that this
	 * revision created. The move does not change that revision.
	 */
	CompletableFuture<Boolean> move(String key, long revision, String value, long lease) {
		return this.client.commit(onlyIf(key, revision, new Put(key, value, lease)))
			.thenApply(EtcdTransaction.Answer::succeeded);
	}

	/**
	 * Reads the revisions that created these keys. Takes one round trip and never returns
	 * stale data.
	 */
	CompletableFuture<KeyRevisions> revisions(List<String> keys) {
		return this.client.commit(EtcdTransaction.of(keys.stream().map(Get::new).toArray(Operation[]::new)))
			.thenApply((answer) -> new KeyRevisions(answer.read()
				.stream()
				.flatMap(List::stream)
				.collect(Collectors.toMap(Key::name, Key::created, Math::max)), answer.term()));
	}

	/**
	 * Checks whether keys of the application may be written and read, without doing so.
	 * etcd checks the permissions of both branches of a transaction.
	 */
	CompletableFuture<?> tryAccess() {
		return this.client.commit(onlyIf(this.root, 1, new Put(this.root, "", 0), new GetNewest(this.root, 1, 0)));
	}

	/** Watches a key for its deletion, from now on. */
	Runnable watch(String key, EtcdClient.WatchListener listener) {
		return this.client.watch(key, listener);
	}

	/** Watches all keys with a prefix, from now on. */
	Runnable watchAll(String prefix, EtcdClient.WatchListener listener) {
		return this.client.watchAll(prefix, listener);
	}

	private static EtcdTransaction onlyIf(String key, long created, Operation... operations) {
		return new EtcdTransaction(List.of(new Created(key, created)), Arrays.asList(operations), List.of());
	}

	private static long created(List<Key> read) {
		return read.isEmpty() ? 0 : read.get(0).created();
	}

	private static @Nullable String other(List<Key> read, String key) {
		return read.stream().map(Key::name).filter((found) -> !found.equals(key)).findFirst().orElse(null);
	}

	/** Thrown when the key of a claim no longer exists. */
	static final class KeyGoneException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final long revision;

		KeyGoneException(long revision) {
			super("The claim's key no longer exists: its lease has ended or the key was deleted");
			this.revision = revision;
		}

		/** Returns the revision that had created the key. */
		long revision() {
			return this.revision;
		}

	}

	/** Thrown when a key belongs to another claim. */
	static final class KeyTakenException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		KeyTakenException(String key) {
			super("The key '%s' belongs to another claim".formatted(key));
		}

	}

	/**
	 * Thrown when the session's epoch differs from the one in which an attempt was sent,
	 * or the claim has another lease.
	 */
	static final class EpochPassedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		EpochPassedException() {
			super("This attempt was overtaken: an unanswered one of the same etcd session was withdrawn after it had been sent, or the claim has another lease since then");
		}

	}

}
