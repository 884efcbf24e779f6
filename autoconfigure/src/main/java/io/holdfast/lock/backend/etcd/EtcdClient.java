package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;

/**
 * The requests to etcd that locks are made of, each sent once and without waiting. A
 * stage that fails says that the request was not carried out, or that its outcome is
 * unknown.
 */
interface EtcdClient extends AutoCloseable {

	/**
	 * Asks for a new lease.
	 * @param seconds how long it should last; etcd may grant a longer one
	 * @return the lease
	 */
	CompletableFuture<GrantedLease> grantLease(long seconds);

	/**
	 * Starts a lease anew; fails with "requested lease not found" if there is none.
	 * @param lease the lease
	 * @return how many seconds it lasts from now
	 */
	CompletableFuture<Long> keepAlive(long lease);

	/**
	 * Ends a lease and deletes its keys; fails with "requested lease not found" if there
	 * is none.
	 * @param lease the lease
	 * @return completes when etcd has done so
	 */
	CompletableFuture<?> revoke(long lease);

	/**
	 * Carries out a transaction. One that only reads is never answered from the past.
	 * @param transaction what to compare, to write and to read
	 * @return the answer
	 */
	CompletableFuture<EtcdTransaction.Answer> commit(EtcdTransaction transaction);

	/**
	 * Watches a key for its deletion, from now on.
	 * @param key the key
	 * @param listener notified of what happens
	 * @return ends the watch
	 */
	Runnable watch(String key, WatchListener listener);

	/** Closes the connections. Requests that are not answered yet fail. */
	@Override
	void close();

	/**
	 * A lease that etcd has granted.
	 *
	 * @param id its number
	 * @param seconds how long it lasts
	 */
	record GrantedLease(long id, long seconds) {
	}

	/**
	 * Notified of what happens to a watch, on any thread.
	 */
	interface WatchListener {

		/** Called when the watch is up; notifies of all later deletions. */
		void created(long revision);

		/** Called when the key was deleted. */
		void deleted();

		/** Called when the watch has ended, and notifies of nothing more. */
		void broken();

	}

}
