package io.holdfast.lock.backend.etcd;

import java.util.regex.Pattern;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockDigest;

/**
 * Names of the etcd keys of one application.
 */
final class EtcdKeys {

	private static final Pattern NOT_IN_A_KEY = Pattern.compile("[^A-Za-z0-9_.-]");

	private final String namespace;

	private final String root;

	EtcdKeys(String namespace) {
		this.namespace = namespace;
		this.root = "/holdfast/" + plain(namespace) + "/";
	}

	/** Returns the prefix of all keys of this application. */
	String root() {
		return this.root;
	}

	/** Returns the prefix of the keys of all claims to a lock. */
	String queue(LockName lock) {
		return this.root + "locks/" + plain(lock.name()) + "-" + LockDigest.of(this.namespace, lock) + "/";
	}

	/** Returns the key of a claim, which no other claim has. */
	String of(Claim claim) {
		return of(claim.lock(), claim.mode(), claim.owner().value());
	}

	/** Returns the key of an owner's claim. */
	String of(LockName lock, LockMode mode, String owner) {
		return queue(lock) + mode(mode) + owner;
	}

	/**
	 * Returns the mode of a claim by the end of its key, after the prefix of the lock.
	 */
	static LockMode modeOf(String end) {
		return end.startsWith(mode(LockMode.SHARED)) ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * Returns the owner of a claim by the end of its key, after the prefix of the lock.
	 */
	static String ownerOf(String end) {
		return end.substring(mode(LockMode.EXCLUSIVE).length());
	}

	/**
	 * Returns the prefix of the keys that a claim must not overtake: for a shared claim,
	 * those of exclusive claims only.
	 */
	String rivals(Claim claim) {
		String queue = queue(claim.lock());
		return (claim.mode() == LockMode.SHARED) ? queue + mode(LockMode.EXCLUSIVE) : queue;
	}

	/** Returns the key that lives as long as a session's lease. */
	String session(long lease) {
		return this.root + "sessions/" + Long.toHexString(lease);
	}

	private static String mode(LockMode mode) {
		return (mode == LockMode.SHARED) ? "s-" : "x-";
	}

	private static String plain(String name) {
		return NOT_IN_A_KEY.matcher(name).replaceAll("_");
	}

}
