package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;

/**
 * Sends requests with jetcd. Every request except a watch has a deadline, set by
 * {@link DeadlineInterceptor}.
 */
final class JetcdClient implements EtcdClient {

	private static final WatchOption DELETIONS = WatchOption.builder()
		.withNoPut(true)
		.withCreateNotify(true)
		.withRequireLeader(true)
		.build();

	private static final WatchOption ALL = WatchOption.builder()
		.isPrefix(true)
		.withCreateNotify(true)
		.withRequireLeader(true)
		.build();

	/**
	 * Time without a response after which a member is pinged, the shortest that gRPC
	 * allows. Only during requests, because etcd rejects pings of an idle connection, and
	 * gRPC then doubles this time for good.
	 */
	private static final Duration SILENCE = Duration.ofSeconds(10);

	private final Client client;

	private final AnswerThreads threads;

	private JetcdClient(Client client, AnswerThreads threads) {
		this.client = client;
		this.threads = threads;
	}

	/**
	 * Creates a client, which connects on the first request.
	 * @param where the endpoints and credentials of etcd; this method sets how requests
	 * are sent and which threads deliver the answers
	 * @param responseTimeout the longest wait for a response
	 * @return the client
	 */
	static JetcdClient create(ClientBuilder where, Duration responseTimeout) {
		AnswerThreads threads = new AnswerThreads();
		return new JetcdClient(where.copy()
			.executorService(threads.executor())
			.waitForReady(false)
			// Netty counts milliseconds with 31 bits
			.connectTimeout(Duration.ofMillis(Math.min(responseTimeout.toMillis(), Integer.MAX_VALUE)))
			.keepaliveTime(SILENCE)
			// slow requests do not delay the response to a ping
			.keepaliveTimeout((responseTimeout.compareTo(SILENCE) < 0) ? responseTimeout : SILENCE)
			.keepaliveWithoutCalls(false)
			.retryMaxAttempts(1)
			.retryDelay(20)
			.retryMaxDelay(100)
			.interceptor(new DeadlineInterceptor(responseTimeout, threads.executor()),
					new LoginInterceptor(responseTimeout))
			.build(), threads);
	}

	@Override
	public CompletableFuture<GrantedLease> grantLease(long seconds) {
		return this.client.getLeaseClient()
			.grant(seconds)
			.thenApply((answer) -> new GrantedLease(answer.getID(), answer.getTTL()));
	}

	@Override
	public CompletableFuture<RenewedLease> keepAlive(long lease) {
		return this.client.getLeaseClient()
			.keepAliveOnce(lease)
			.thenApply((answer) -> new RenewedLease(answer.getTTL(), answer.getHeader().getRaftTerm()));
	}

	@Override
	public CompletableFuture<Long> timeToLive(long lease) {
		return this.client.getLeaseClient()
			.timeToLive(lease, LeaseOption.DEFAULT)
			.thenApply((answer) -> answer.getTTL());
	}

	@Override
	public CompletableFuture<?> revoke(long lease) {
		return this.client.getLeaseClient().revoke(lease);
	}

	@Override
	public CompletableFuture<List<LeasedKey>> list(String prefix) {
		GetOption oldestFirst = GetOption.builder()
			.isPrefix(true)
			.withSortField(GetOption.SortTarget.CREATE)
			.withSortOrder(GetOption.SortOrder.ASCEND)
			.build();
		return this.client.getKVClient()
			.get(bytes(prefix), oldestFirst)
			.thenApply((answer) -> answer.getKvs()
				.stream()
				.map((found) -> new LeasedKey(text(found.getKey()), found.getCreateRevision(), text(found.getValue()),
						found.getLease()))
				.toList());
	}

	@Override
	public CompletableFuture<EtcdTransaction.Answer> commit(EtcdTransaction transaction) {
		return this.client.getKVClient()
			.txn()
			.If(transaction.conditions().stream().map(JetcdClient::compare).toArray(Cmp[]::new))
			.Then(operations(transaction.then()))
			.Else(operations(transaction.otherwise()))
			.commit()
			.thenApply(JetcdClient::answer);
	}

	private static Cmp compare(EtcdTransaction.Condition condition) {
		return new Cmp(bytes(condition.key()), Cmp.Op.EQUAL, target(condition));
	}

	private static CmpTarget<?> target(EtcdTransaction.Condition condition) {
		if (condition instanceof EtcdTransaction.Created created) {
			return CmpTarget.createRevision(created.revision());
		}
		return (condition instanceof EtcdTransaction.Written written) ? CmpTarget.modRevision(written.revision())
				: CmpTarget.value(bytes(((EtcdTransaction.HasValue) condition).value()));
	}

	private static Op[] operations(List<EtcdTransaction.Operation> operations) {
		return operations.stream().map(JetcdClient::operation).toArray(Op[]::new);
	}

	private static Op operation(EtcdTransaction.Operation operation) {
		if (operation instanceof EtcdTransaction.Put put) {
			return Op.put(bytes(put.key()), bytes(put.value()), PutOption.builder().withLeaseId(put.lease()).build());
		}
		if (operation instanceof EtcdTransaction.Delete delete) {
			return Op.delete(bytes(delete.key()), DeleteOption.DEFAULT);
		}
		if (operation instanceof EtcdTransaction.GetNewest newest) {
			return Op.get(bytes(newest.prefix()), newest(newest));
		}
		return Op.get(bytes(((EtcdTransaction.Get) operation).key()), GetOption.DEFAULT);
	}

	private static GetOption newest(EtcdTransaction.GetNewest newest) {
		return GetOption.builder()
			.isPrefix(true)
			.withKeysOnly(true)
			.withSortField(GetOption.SortTarget.CREATE)
			.withSortOrder(GetOption.SortOrder.DESCEND)
			.withLimit(newest.limit())
			.withMaxCreateRevision(newest.until())
			.build();
	}

	private static EtcdTransaction.Answer answer(TxnResponse answer) {
		return new EtcdTransaction.Answer(answer.isSucceeded(), answer.getHeader().getRevision(),
				answer.getHeader().getRaftTerm(), answer.getGetResponses().stream().map(JetcdClient::keys).toList());
	}

	private static List<EtcdTransaction.Key> keys(GetResponse read) {
		return read.getKvs()
			.stream()
			.map((found) -> new EtcdTransaction.Key(text(found.getKey()), found.getCreateRevision(),
					found.getModRevision(), text(found.getValue())))
			.toList();
	}

	@Override
	public Runnable watch(String key, WatchListener listener) {
		return watch(key, DELETIONS, listener);
	}

	@Override
	public Runnable watchAll(String prefix, WatchListener listener) {
		return watch(prefix, ALL, listener);
	}

	private Runnable watch(String key, WatchOption option, WatchListener listener) {
		Watch.Watcher watcher = this.client.getWatchClient()
			.watch(bytes(key), option, new Adapter(listener, this.threads.executor()));
		return watcher::close;
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.threads.include(thread);
	}

	@Override
	public void close() {
		this.client.close();
		this.threads.close();
	}

	private static String text(ByteSequence bytes) {
		return bytes.toString(StandardCharsets.UTF_8);
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	/**
	 * Forwards the events of a jetcd watch.
	 *
	 * @param listener notified of the events
	 * @param threads notify it of a broken watch. The client reports that under a lock
	 * which other threads need to start or close a watch
	 */
	private record Adapter(WatchListener listener, Executor threads) implements Watch.Listener {

		@Override
		public void onNext(WatchResponse response) {
			if (response.isCreatedNotify()) {
				this.listener.created(response.getHeader().getRevision());
			}
			response.getEvents().forEach(this::forward);
		}

		private void forward(WatchEvent event) {
			String key = text(event.getKeyValue().getKey());
			long revision = event.getKeyValue().getModRevision();
			if (event.getEventType() == WatchEvent.EventType.DELETE) {
				this.listener.deleted(key, revision);
			}
			else {
				this.listener.written(key, revision);
			}
		}

		@Override
		public void onError(Throwable failure) {
			this.threads.execute(this.listener::broken);
		}

		@Override
		public void onCompleted() {
			this.listener.broken();
		}

	}

}
