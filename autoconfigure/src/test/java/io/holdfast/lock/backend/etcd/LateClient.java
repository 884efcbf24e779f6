package io.holdfast.lock.backend.etcd;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.Stages;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends requests to a real etcd and holds some of them back, as a slow member does. The
 * client has timed out by the time that etcd carries them out.
 */
final class LateClient implements EtcdClient {

	private static final Predicate<EtcdTransaction> CREATION = (transaction) -> transaction.then()
		.stream()
		.anyMatch((step) -> step instanceof EtcdTransaction.Put put && put.key().contains("/locks/"));

	private static final Predicate<EtcdTransaction> SESSION = (transaction) -> transaction.then()
		.stream()
		.anyMatch((step) -> step instanceof EtcdTransaction.Put put && put.key().contains("/sessions/"));

	private static final Predicate<EtcdTransaction> ATTACHMENT = CREATION.and((transaction) -> transaction.conditions()
		.stream()
		.noneMatch((condition) -> condition instanceof EtcdTransaction.Created created && created.revision() == 0));

	private static final Predicate<EtcdTransaction> READING = (transaction) -> !transaction.conditions().isEmpty()
			&& transaction.then().stream().allMatch((step) -> step instanceof EtcdTransaction.GetNewest);

	private static final Predicate<EtcdTransaction> DELETION = (
			transaction) -> transaction.then().stream().anyMatch((step) -> step instanceof EtcdTransaction.Delete);

	private final EtcdClient client;

	private boolean losesNextAnswer;

	private @Nullable Predicate<EtcdTransaction> delayed;

	private boolean usesUpQuota;

	private @Nullable Predicate<EtcdTransaction> delayedAnswer;

	private boolean refusesNextDeletion;

	private volatile boolean missesNextLease;

	private final Queue<Predicate<EtcdTransaction>> awaited = new ArrayDeque<>();

	private final Queue<Supplier<CompletableFuture<?>>> heldBack = new ArrayDeque<>();

	private final List<WatchListener> queueWatches = new CopyOnWriteArrayList<>();

	private final Semaphore established = new Semaphore(0);

	private boolean holdsBackQueueWatches;

	private volatile @Nullable Exception failure;

	private volatile Runnable whenUnwatched = () -> {
	};

	LateClient(EtcdClient client) {
		this.client = client;
	}

	static LateClient to(String endpoint) {
		return new LateClient(JetcdClient.create(Client.builder().endpoints(endpoint), BOUND));
	}

	/** Holds back the next attempt to create the key of a claim. */
	synchronized void holdBackNextAttempt() {
		this.awaited.add(CREATION);
	}

	/**
	 * Holds back the next attempt to create the key of a claim. The client still waits
	 * for the answer when it is carried out.
	 */
	synchronized void delayNextAttempt() {
		this.delayed = CREATION;
	}

	/**
	 * Holds back the next request that reads the position of a claim. The client still
	 * waits for the answer when it is carried out.
	 */
	synchronized void delayNextReading() {
		this.delayed = READING;
	}

	/**
	 * Carries out the next attempt to create the key of a claim, and holds back the
	 * answer, for which the client still waits.
	 */
	synchronized void delayNextAnswerToAnAttempt() {
		this.delayedAnswer = CREATION;
	}

	/**
	 * Carries out the next attempt to write the key of a session, and holds back the
	 * answer, for which the client still waits.
	 */
	synchronized void delayNextAnswerToASession() {
		this.delayedAnswer = SESSION;
	}

	/** Whether an attempt is held back. */
	synchronized boolean holdsBack() {
		return !this.heldBack.isEmpty();
	}

	/** Holds back the next attempt to attach the key of a claim to another lease. */
	synchronized void holdBackNextAttachment() {
		this.awaited.add(ATTACHMENT);
	}

	/** Holds back the next request to delete the key of a claim. */
	synchronized void holdBackNextDeletion() {
		this.awaited.add(DELETION);
	}

	/**
	 * Holds back the next request to delete the key of a claim. The client still waits
	 * for the answer when it is carried out.
	 */
	synchronized void delayNextDeletion() {
		this.delayed = DELETION;
	}

	/**
	 * Carries out the next attempt to create the key of a claim, and loses the answer.
	 */
	synchronized void loseNextAnswerToAnAttempt() {
		this.losesNextAnswer = true;
	}

	/**
	 * Carries out the next attempt to create the key of a claim, and rejects it, as etcd
	 * does with the request that uses up its quota.
	 */
	synchronized void useUpQuotaWithNextAttempt() {
		this.usesUpQuota = true;
	}

	/** Holds back the watches of wait queues, which etcd establishes late. */
	synchronized void holdBackQueueWatches() {
		this.holdsBackQueueWatches = true;
	}

	/** Returns the listeners of the watches of wait queues that have not ended. */
	List<WatchListener> queueWatches() {
		return this.queueWatches;
	}

	/** Runs an action while the client ends the watch of a key. */
	void whenKeyIsUnwatched(Runnable action) {
		this.whenUnwatched = action;
	}

	/** Waits until etcd has established one more watch of a wait queue. */
	void awaitQueueWatch() throws InterruptedException {
		assertThat(this.established.tryAcquire(BOUND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
	}

	/** Makes etcd deny the next request to delete the key of a claim. */
	synchronized void refuseNextDeletion() {
		this.refusesNextDeletion = true;
	}

	/**
	 * Makes etcd report at the next renewal that the lease does not exist, as a new
	 * leader does that has not executed its creation yet.
	 */
	void missNextLease() {
		this.missesNextLease = true;
	}

	/** Whether the next renewal is still to come. */
	boolean missesNextLease() {
		return this.missesNextLease;
	}

	/** Sets whether each later request fails. */
	void failing(boolean failing) {
		this.failure = failing ? new TimeoutException("etcd is unavailable") : null;
	}

	/** Fails each later request. */
	void failing(Exception failure) {
		this.failure = failure;
	}

	/** Sets whether etcd denies each later request. */
	void refusing(boolean refusing) {
		this.failure = refusing ? Status.PERMISSION_DENIED.asRuntimeException() : null;
	}

	/** Carries out the requests that were held back, and returns their number. */
	synchronized int carryOut() throws Exception {
		int count = this.heldBack.size();
		while (!this.heldBack.isEmpty()) {
			this.heldBack.remove().get().handle((answer, failure) -> answer).get(10, TimeUnit.SECONDS);
		}
		return count;
	}

	/** Carries out the oldest of the requests that were held back. */
	synchronized void carryOutNext() throws Exception {
		this.heldBack.remove().get().handle((answer, failure) -> answer).get(10, TimeUnit.SECONDS);
	}

	private <T> CompletableFuture<T> send(Supplier<CompletableFuture<T>> request) {
		Exception failure = this.failure;
		return (failure != null) ? CompletableFuture.failedFuture(failure) : request.get();
	}

	@Override
	public synchronized CompletableFuture<EtcdTransaction.Answer> commit(EtcdTransaction transaction) {
		if (this.refusesNextDeletion && DELETION.test(transaction)) {
			this.refusesNextDeletion = false;
			return CompletableFuture.failedFuture(Status.PERMISSION_DENIED.asRuntimeException());
		}
		if (!this.awaited.isEmpty() && this.awaited.peek().test(transaction)) {
			this.awaited.remove();
			this.heldBack.add(() -> this.client.commit(transaction));
			return CompletableFuture.failedFuture(new TimeoutException("held back by the test"));
		}
		if (this.delayed != null && this.delayed.test(transaction)) {
			this.delayed = null;
			return delayed(() -> carriedOut(transaction));
		}
		if (this.delayedAnswer != null && this.delayedAnswer.test(transaction)) {
			this.delayedAnswer = null;
			CompletableFuture<EtcdTransaction.Answer> carriedOut = carriedOut(transaction);
			return delayed(() -> carriedOut);
		}
		CompletableFuture<EtcdTransaction.Answer> answer = send(() -> carriedOut(transaction));
		if (this.losesNextAnswer && CREATION.test(transaction)) {
			this.losesNextAnswer = false;
			return answer
				.thenCompose((lost) -> CompletableFuture.failedFuture(new TimeoutException("lost by the test")));
		}
		return answer;
	}

	private CompletableFuture<EtcdTransaction.Answer> carriedOut(EtcdTransaction transaction) {
		CompletableFuture<EtcdTransaction.Answer> answer = this.client.commit(transaction);
		if (!this.usesUpQuota || !CREATION.test(transaction)) {
			return answer;
		}
		this.usesUpQuota = false;
		return answer.thenCompose((done) -> CompletableFuture
			.failedFuture(Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: mvcc: database space exceeded")
				.asRuntimeException()));
	}

	private CompletableFuture<EtcdTransaction.Answer> delayed(
			Supplier<CompletableFuture<EtcdTransaction.Answer>> request) {
		CompletableFuture<EtcdTransaction.Answer> delayed = new CompletableFuture<>();
		this.heldBack.add(() -> {
			CompletableFuture<EtcdTransaction.Answer> late = request.get();
			late.whenCompleteAsync((value, failure) -> Stages.settle(delayed, value, failure));
			return late;
		});
		return delayed;
	}

	@Override
	public CompletableFuture<GrantedLease> grantLease(long seconds) {
		return send(() -> this.client.grantLease(seconds));
	}

	@Override
	public CompletableFuture<RenewedLease> keepAlive(long lease) {
		if (this.missesNextLease) {
			this.missesNextLease = false;
			return CompletableFuture.failedFuture(
					Status.NOT_FOUND.withDescription("etcdserver: requested lease not found").asRuntimeException());
		}
		return send(() -> this.client.keepAlive(lease));
	}

	@Override
	public CompletableFuture<Long> timeToLive(long lease) {
		return send(() -> this.client.timeToLive(lease));
	}

	@Override
	public CompletableFuture<List<LeasedKey>> list(String prefix) {
		return send(() -> this.client.list(prefix));
	}

	@Override
	public CompletableFuture<?> revoke(long lease) {
		return send(() -> this.client.revoke(lease).thenApply((answer) -> answer));
	}

	@Override
	public Runnable watch(String key, WatchListener listener) {
		Runnable cancel = this.client.watch(key, listener);
		return () -> {
			this.whenUnwatched.run();
			cancel.run();
		};
	}

	@Override
	public synchronized Runnable watchAll(String prefix, WatchListener listener) {
		this.queueWatches.add(listener);
		Runnable end = () -> this.queueWatches.remove(listener);
		if (this.holdsBackQueueWatches) {
			this.heldBack.add(() -> CompletableFuture.completedFuture(this.client.watchAll(prefix, listener)));
			return end;
		}
		Runnable cancel = this.client.watchAll(prefix, new Announced(listener, this.established));
		return () -> {
			end.run();
			cancel.run();
		};
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.client.answersOn(thread);
	}

	@Override
	public void close() {
		this.client.close();
	}

	/**
	 * A listener that announces its watch once it is established.
	 *
	 * @param listener notified of the events
	 * @param established gets a permit
	 */
	private record Announced(WatchListener listener, Semaphore established) implements WatchListener {

		@Override
		public void created(long revision) {
			this.listener.created(revision);
			this.established.release();
		}

		@Override
		public void written(String key, long revision) {
			this.listener.written(key, revision);
		}

		@Override
		public void deleted(String key, long revision) {
			this.listener.deleted(key, revision);
		}

		@Override
		public void broken() {
			this.listener.broken();
		}

	}

}
