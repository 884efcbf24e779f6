package io.holdfast.lock.backend.etcd;

import java.util.List;

/**
 * What etcd carries out at once or not at all.
 *
 * @param conditions what must be true of the present keys
 * @param then what to do if all conditions are true
 * @param otherwise what to do if one is not
 */
record EtcdTransaction(List<Condition> conditions, List<Operation> then, List<Operation> otherwise) {

	/** A transaction without a condition. */
	static EtcdTransaction of(Operation... operations) {
		return new EtcdTransaction(List.of(), List.of(operations), List.of());
	}

	/**
	 * A condition on one key. The revision of a key that does not exist is 0.
	 *
	 * @param key the key
	 * @param change which change of the key is compared
	 * @param revision the revision that must have made it
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

		/** The one that created it. */
		CREATED,

		/** The latest one. */
		WRITTEN

	}

	/**
	 * One step of a transaction.
	 */
	sealed interface Operation {

	}

	/**
	 * Writes a key.
	 *
	 * @param key the key
	 * @param value its value
	 * @param lease the lease that it lives with
	 */
	record Put(String key, String value, long lease) implements Operation {
	}

	/**
	 * Deletes a key, if there is one.
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
	 * Reads the keys that were created last, without their values and the newest first.
	 *
	 * @param prefix what they begin with
	 * @param limit how many at most
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
	 * @param read what each of the reads has found, in their order
	 */
	record Answer(boolean succeeded, long revision, List<List<Key>> read) {
	}

}
