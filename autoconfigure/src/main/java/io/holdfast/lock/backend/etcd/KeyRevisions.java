package io.holdfast.lock.backend.etcd;

import java.util.Map;

/**
 * The revisions of keys.
 *
 * @param created the revision that created each key that exists
 * @param term the term of the leader, confirmed by a majority
 */
record KeyRevisions(Map<String, Long> created, long term) {

	/** Returns the revision that created a key, or zero if there is no such key. */
	long of(String key) {
		return this.created.getOrDefault(key, 0L);
	}

}
