package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * The keys on each node.
 *
 * @param namespace prefix of every key
 */
record RedlockKeys(String namespace) {

	private static final String READERS = "-readers";

	private static final String WAITERS = "-waiters";

	/** What the node knows of itself and of all locks. */
	String node() {
		return this.namespace + ":redlock";
	}

	/** All that scripts need which grant. */
	List<Object> of(LockName lock) {
		return all(stem(lock.toString()));
	}

	/** What a claim may have. */
	List<Object> parts(LockName lock) {
		String stem = stem(lock.toString());
		return List.of(stem, stem + READERS, stem + WAITERS);
	}

	/** What a grant has. */
	Object part(LockName lock, LockMode mode) {
		String stem = stem(lock.toString());
		return (mode == LockMode.SHARED) ? stem + READERS : stem;
	}

	List<Object> ofProbe() {
		return all(stem("probe:" + UUID.randomUUID()));
	}

	private List<Object> all(String stem) {
		return List.of(stem, stem + "-token", node(), stem + READERS, stem + WAITERS);
	}

	private String stem(String lock) {
		return this.namespace + ":{" + lock + "}:part";
	}

	/**
	 * What a memory without a name is called by, if this request is the first to see it.
	 */
	static String random() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
	}

}
