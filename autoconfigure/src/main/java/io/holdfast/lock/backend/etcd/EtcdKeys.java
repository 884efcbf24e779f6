package io.holdfast.lock.backend.etcd;

import java.util.regex.Pattern;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockDigest;

/**
 * Where in etcd the claims of one application stand.
 */
final class EtcdKeys {

	private static final Pattern NOT_IN_A_KEY = Pattern.compile("[^A-Za-z0-9_.-]");

	private final String namespace;

	private final String root;

	EtcdKeys(String namespace) {
		this.namespace = namespace;
		this.root = "/holdfast/" + plain(namespace) + "/";
	}

	/** What all keys of this application begin with. */
	String root() {
		return this.root;
	}

	/** What all claims to a lock begin with. */
	private String queue(LockName lock) {
		return this.root + "locks/" + plain(lock.name()) + "-" + LockDigest.of(this.namespace, lock) + "/";
	}

	/** The key of one claim, which no other claim has. */
	String of(Claim claim) {
		return queue(claim.lock()) + mode(claim.mode()) + claim.owner();
	}

	/**
	 * What those begin with that a claim must not overtake: a reader none but writers.
	 */
	String rivals(Claim claim) {
		String queue = queue(claim.lock());
		return (claim.mode() == LockMode.SHARED) ? queue + mode(LockMode.EXCLUSIVE) : queue;
	}

	/** The key that lives as long as a session's lease. */
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
