package io.holdfast.lock.backend.etcd;

import java.util.List;

/**
 * A transaction that etcd executes atomically.
 *
 * @param conditions the conditions on the current keys
 * @param then the operations if all conditions are true
 * @param otherwise the operations if any condition is false
 */
record EtcdTransaction(List<Condition> conditions, List<Operation> then, List<Operation> otherwise) {

	/** Creates a transaction without conditions. */
	static EtcdTransaction of(Operation... operations) {
		return new EtcdTransaction(List.of(), List.of(operations), List.of());
	}

	/**
	 * A condition on one key. The revision of a key that does not exist is 0.
	 */
	sealed interface Condition {

		/** Returns the key. */
		String key();

	}

	/**
	 * Whether a revision has created a key.
	 *
	 * @param key the key
	 * @param revision the revision
	 */
	record Created(String key, long revision) implements Condition {
	}

	/**
	 * Whether a revision has made the latest change of a key.
	 *
	 * @param key the key
	 * @param revision the revision
	 */
	record Written(String key, long revision) implements Condition {
	}

	/**
	 * Whether a key exists and has a value.
	 *
	 * @param key the key
	 * @param value the value
	 */
	record HasValue(String key, String value) implements Condition {
	}

	/**
	 * One operation of a transaction.
	 */
	sealed interface Operation {

	}

	/**
	 * Writes a key.
	 *
	 * @param key the key
	 * @param value its value
	 * @param lease the lease that the key is attached to
	 */
	record Put(String key, String value, long lease) implements Operation {
	}

	/**
	 * Deletes a key if it exists.
	 *
	 * @param key the key
	 */
	record Delete(String key) implements Operation {
	}

	/**
	 * Reads a key and its value.
	 *
	 * @param key the key
	 */
	record Get(String key) implements Operation {
	}

	/**
	 * Reads the most recently created keys, newest first and without their values.
	 *
	 * @param prefix the prefix of the keys
	 * @param limit the maximum number of keys
	 * @param until the greatest revision that may have created them; 0 for any
	 */
	record GetNewest(String prefix, int limit, long until) implements Operation {
	}

	/**
	 * A key that was read.
	 *
	 * @param name the key
	 * @param created the revision that created it
	 * @param written the revision that made its latest change
	 * @param value its value, empty if it was not read
	 */
	record Key(String name, long created, long written, String value) {
	}

	/**
	 * The answer to a transaction.
	 *
	 * @param succeeded whether all conditions were true
	 * @param revision the revision of etcd after it
	 * @param term the latest term of a leader that the member knew after it, which is no
	 * earlier than that of the leader that confirmed it
	 * @param read the keys found by each read, in the order of the reads
	 */
	record Answer(boolean succeeded, long revision, long term, List<List<Key>> read) {
	}

}
