package io.holdfast.lock.backend.etcd;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The etcd requests that locks need, each sent once and without blocking. A failed stage
 * means that the request was not executed or that its outcome is unknown.
 */
interface EtcdClient extends AutoCloseable {

	/**
	 * Requests a new lease.
	 * @param seconds the requested duration; etcd may grant a longer one
	 * @return the lease
	 */
	CompletableFuture<GrantedLease> grantLease(long seconds);

	/**
	 * Renews a lease. Fails with "requested lease not found" if it does not exist.
	 * @param lease the lease
	 * @return the renewal; its leader may not know yet that another one was elected
	 */
	CompletableFuture<RenewedLease> keepAlive(long lease);

	/**
	 * Reads how long a lease lasts, without renewing it.
	 * @param lease the lease
	 * @return the number of seconds from now; not positive if the lease does not exist
	 */
	CompletableFuture<Long> timeToLive(long lease);

	/**
	 * Revokes a lease and deletes its keys. Fails with "requested lease not found" if it
	 * does not exist.
	 * @param lease the lease
	 * @return completes when etcd has revoked the lease
	 */
	CompletableFuture<?> revoke(long lease);

	/**
	 * Executes a transaction. A read-only transaction never returns stale data.
	 * @param transaction the conditions, writes, and reads
	 * @return the answer
	 */
	CompletableFuture<EtcdTransaction.Answer> commit(EtcdTransaction transaction);

	/**
	 * Reads all keys with a prefix. Never returns stale data.
	 * @param prefix the prefix
	 * @return the keys, oldest first
	 */
	CompletableFuture<List<LeasedKey>> list(String prefix);

	/**
	 * Watches a key for its deletion, from now on.
	 * @param key the key
	 * @param listener notified of the events of the watch
	 * @return cancels the watch
	 */
	Runnable watch(String key, WatchListener listener);

	/**
	 * Watches all keys with a prefix for their creation, change and deletion, from now
	 * on.
	 * @param prefix the prefix
	 * @param listener notified of the events of the watch
	 * @return cancels the watch
	 */
	Runnable watchAll(String prefix, WatchListener listener);

	/** Whether a thread delivers the answers and the events of watches. */
	boolean answersOn(Thread thread);

	/** Closes the connections. Requests that are still unanswered fail. */
	@Override
	void close();

	/**
	 * A lease that etcd has granted.
	 *
	 * @param id the id of the lease
	 * @param seconds how long it lasts
	 */
	record GrantedLease(long id, long seconds) {
	}

	/**
	 * A lease that a leader has renewed.
	 *
	 * @param seconds how long the lease lasts from now, according to this leader
	 * @param term the latest term of a leader that the member knew before the renewal
	 */
	record RenewedLease(long seconds, long term) {
	}

	/**
	 * A key and its lease.
	 *
	 * @param name the key
	 * @param created the revision that created it
	 * @param value its value
	 * @param lease the lease that it is attached to; 0 for none
	 */
	record LeasedKey(String name, long created, String value, long lease) {
	}

	/**
	 * Listener for the events of a watch. Called on any thread.
	 */
	interface WatchListener {

		/**
		 * Called when the watch is established. From then on it reports every event.
		 */
		void created(long revision);

		/**
		 * Called when a key was created or changed, unless the watch is for deletions
		 * alone. A server that lags behind also reports events that precede the request
		 * for the watch.
		 * @param revision the revision of this event
		 */
		void written(String key, long revision);

		/**
		 * Called when a key was deleted, perhaps before the request for the watch.
		 * @param revision the revision of this event
		 */
		void deleted(String key, long revision);

		/** Called when the watch has ended and reports nothing more. */
		void broken();

	}

}
