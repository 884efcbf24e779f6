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

	/** Ends the client in the key of a claim whose lease may be sticky. */
	private static final String STICKY = "-sticky.";

	private static final int NAME_LENGTH = 200;

	private final String namespace;

	private final String client;

	private final String root;

	/**
	 * Creates the names.
	 * @param namespace distinguishes the locks of this application
	 * @param client distinguishes the keys of this client; without a dot
	 */
	EtcdKeys(String namespace, String client) {
		this.namespace = namespace;
		this.client = client;
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

	/**
	 * Returns the prefix of this client's keys for claims like this one; a number
	 * follows.
	 */
	String prefix(Claim claim) {
		boolean sticky = claim.sticky() && claim.mode() == LockMode.EXCLUSIVE;
		return queue(claim.lock()) + mode(claim.mode()) + this.client + (sticky ? STICKY : ".");
	}

	/** Whether the lease of the claim with this key is sticky once it is granted. */
	static boolean isSticky(String key) {
		return key.indexOf(STICKY, key.lastIndexOf('/')) >= 0;
	}

	/**
	 * Returns the value of a claim's key. Starts with the owner.
	 * @param claim the claim
	 * @param number distinguishes the key from an earlier one of the same owner
	 */
	static String value(Claim claim, long number) {
		return claim.owner() + " " + number + " " + LockDigest.readable(claim.lock(), NAME_LENGTH);
	}

	/**
	 * Returns the mode of a claim by the end of its key, after the prefix of the lock.
	 */
	static LockMode modeOf(String end) {
		return end.startsWith(mode(LockMode.SHARED)) ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * Returns the owner of a claim by the value of its key. Keys of earlier versions end
	 * with the owner instead.
	 * @param end the end of the key, after the prefix of the lock
	 * @param value the value of the key
	 */
	static String ownerOf(String end, String value) {
		return (end.indexOf('.') < 0) ? end.substring(mode(LockMode.EXCLUSIVE).length())
				: value.substring(0, Math.max(0, value.indexOf(' ')));
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
