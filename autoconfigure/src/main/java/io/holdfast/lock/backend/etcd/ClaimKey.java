package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.spi.Claim;

/**
 * The key of one claim. Its name may have been that of other claims before, but its value
 * is its own. Thread-safe.
 */
final class ClaimKey {

	private final Claim claim;

	private final String value;

	private final KeyNames names;

	private volatile String name;

	/**
	 * Creates the key, with a name that no other claim uses.
	 * @param claim the claim
	 * @param number distinguishes the key from others of the same owner
	 * @param names the names
	 */
	ClaimKey(Claim claim, long number, KeyNames names) {
		this.claim = claim;
		this.value = EtcdKeys.value(claim, number);
		this.names = names;
		this.name = names.take(claim);
	}

	Claim claim() {
		return this.claim;
	}

	String name() {
		return this.name;
	}

	String value() {
		return this.value;
	}

	/**
	 * Takes another name. The present one stays taken, so that no later claim meets the
	 * key that has it.
	 */
	void rename() {
		this.name = this.names.take(this.claim);
	}

	/**
	 * Returns the name to other claims. etcd must not have the key, and no request may
	 * create it. A late deletion compares the value, so it leaves the next key alone.
	 */
	void free() {
		this.names.free(this.name);
	}

}
