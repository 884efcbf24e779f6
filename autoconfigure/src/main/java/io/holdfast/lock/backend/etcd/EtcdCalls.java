package io.holdfast.lock.backend.etcd;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.Watch.Watcher;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import org.jspecify.annotations.Nullable;

/**
 * The requests that locks need, each sent without waiting. Every one but a watch has a
 * deadline, by {@link DeadlineInterceptor}.
 */
final class EtcdCalls {

	/** How many operations a transaction may have at most; etcd's default is 128. */
	static final int OPERATIONS = 100;

	private static final GetOption COUNT = GetOption.builder().withCountOnly(true).build();

	private static final WatchOption DELETIONS = WatchOption.builder()
		.withNoPut(true)
		.withCreateNotify(true)
		.withRequireLeader(true)
		.build();

	private final Client client;

	EtcdCalls(Client client) {
		this.client = client;
	}

	CompletableFuture<LeaseGrantResponse> grantLease(long seconds) {
		return this.client.getLeaseClient().grant(seconds);
	}

	CompletableFuture<LeaseKeepAliveResponse> keepAlive(long lease) {
		return this.client.getLeaseClient().keepAliveOnce(lease);
	}

	CompletableFuture<?> revoke(long lease) {
		return this.client.getLeaseClient().revoke(lease);
	}

	/** Write a key that lives with a lease; tells the revision of etcd after it. */
	CompletableFuture<Long> put(ByteSequence key, long lease) {
		return this.client.getKVClient()
			.put(key, ByteSequence.EMPTY, withLease(lease))
			.thenApply((answer) -> answer.getHeader().getRevision());
	}

	CompletableFuture<?> delete(ByteSequence key) {
		return this.client.getKVClient().delete(key);
	}

	CompletableFuture<Boolean> exists(ByteSequence key) {
		return this.client.getKVClient().get(key, COUNT).thenApply((answer) -> answer.getCount() > 0);
	}

	/**
	 * Stand at the end of a line, unless this key stands in it already, and see who
	 * stands before. All in one round trip; repeating it changes nothing.
	 */
	CompletableFuture<Standing> stand(ByteSequence key, ByteSequence value, long lease, ByteSequence rivals) {
		// the newest of them is this key itself, unless it is no rival to its like
		GetOption lastTwo = newest().withLimit(2).build();
		return this.client.getKVClient()
			.txn()
			.If(created(key, 0))
			.Then(Op.put(key, value, withLease(lease)), Op.get(rivals, lastTwo))
			.Else(Op.get(key, GetOption.DEFAULT))
			.commit()
			.thenCompose((answer) -> {
				List<KeyValue> read = answer.getGetResponses().get(0).getKvs();
				if (!answer.isSucceeded()) {
					// an earlier attempt did it, and its answer was lost
					return look(key, read.get(0).getCreateRevision(), rivals);
				}
				long revision = answer.getHeader().getRevision();
				return CompletableFuture.completedFuture(new Standing(revision, other(read, key), revision));
			});
	}

	/**
	 * See who stands before a key that stands in the line; fails with
	 * {@link KeyGoneException} if it does not any more. Never answered from the past.
	 */
	CompletableFuture<Standing> look(ByteSequence key, long revision, ByteSequence rivals) {
		GetOption lastBefore = newest().withLimit(1).withMaxCreateRevision(revision - 1).build();
		return this.client.getKVClient()
			.txn()
			.If(created(key, revision))
			.Then(Op.get(rivals, lastBefore))
			.commit()
			.thenApply((answer) -> {
				if (!answer.isSucceeded()) {
					throw new KeyGoneException();
				}
				ByteSequence before = other(answer.getGetResponses().get(0).getKvs(), key);
				return new Standing(revision, before, answer.getHeader().getRevision());
			});
	}

	/** Delete a key if it is still the one that this revision created. */
	CompletableFuture<Boolean> delete(ByteSequence key, long revision) {
		return this.client.getKVClient()
			.txn()
			.If(created(key, revision))
			.Then(Op.delete(key, DeleteOption.DEFAULT))
			.commit()
			.thenApply(TxnResponse::isSucceeded);
	}

	/**
	 * The revisions that created these keys, 0 for one that is not there, in one round
	 * trip and never from the past.
	 */
	CompletableFuture<List<Long>> revisions(List<ByteSequence> keys) {
		return this.client.getKVClient()
			.txn()
			.Then(keys.stream().map((key) -> Op.get(key, GetOption.DEFAULT)).toArray(Op[]::new))
			.commit()
			.thenApply((answer) -> answer.getGetResponses().stream().map(EtcdCalls::revision).toList());
	}

	/**
	 * Ask whether keys like these may be written and read, without doing so. etcd checks
	 * the permissions of both branches of a transaction.
	 */
	CompletableFuture<?> tryAccess(ByteSequence prefix) {
		GetOption read = GetOption.builder().isPrefix(true).withCountOnly(true).build();
		return this.client.getKVClient()
			.txn()
			.If(created(prefix, 1))
			.Then(Op.put(prefix, ByteSequence.EMPTY, PutOption.DEFAULT))
			.Else(Op.get(prefix, read))
			.commit();
	}

	/** Watch a key for its deletion, from now on. */
	Watcher watch(ByteSequence key, Watch.Listener listener) {
		return this.client.getWatchClient().watch(key, DELETIONS, listener);
	}

	private static long revision(GetResponse answer) {
		return answer.getKvs().isEmpty() ? 0 : answer.getKvs().get(0).getCreateRevision();
	}

	private static @Nullable ByteSequence other(List<KeyValue> read, ByteSequence key) {
		return read.stream().map(KeyValue::getKey).filter((found) -> !found.equals(key)).findFirst().orElse(null);
	}

	private static Cmp created(ByteSequence key, long revision) {
		return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
	}

	private static GetOption.Builder newest() {
		return GetOption.builder()
			.isPrefix(true)
			.withKeysOnly(true)
			.withSortField(GetOption.SortTarget.CREATE)
			.withSortOrder(GetOption.SortOrder.DESCEND);
	}

	private static PutOption withLease(long lease) {
		return PutOption.builder().withLeaseId(lease).build();
	}

	/** The key of a claim is not there any more. */
	static final class KeyGoneException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		KeyGoneException() {
			super("The key of this claim is gone: its lease has ended, or somebody has deleted it");
		}

	}

}
