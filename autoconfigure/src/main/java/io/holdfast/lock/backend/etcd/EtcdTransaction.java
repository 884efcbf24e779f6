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
	 *
	 * @param key the key
	 * @param change which change of the key is compared
	 * @param revision the revision that must have made that change
	 */
	record Condition(String key, Change change, long revision) {

		static Condition created(String key, long revision) {
			return new Condition(key, Change.CREATED, revision);
		}

		static Condition written(String key, long revision) {
			return new Condition(key, Change.WRITTEN, revision);
		}

	}

	/**
	 * A change of a key.
	 */
	enum Change {

		/** The change that created the key. */
		CREATED,

		/** The latest change. */
		WRITTEN

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
	 * Reads a key without its value.
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
	 */
	record Key(String name, long created) {
	}

	/**
	 * The answer to a transaction.
	 *
	 * @param succeeded whether all conditions were true
	 * @param revision the revision of etcd after it
	 * @param read the keys found by each read, in the order of the reads
	 */
	record Answer(boolean succeeded, long revision, List<List<Key>> read) {
	}

}
