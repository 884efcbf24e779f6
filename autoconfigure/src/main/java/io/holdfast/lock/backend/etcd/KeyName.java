package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.spi.Claim;

/**
 * The name of one claim's key, which keys of other claims may have had before. A deletion
 * compares the owner in the value of the key. So one that etcd carries out late leaves
 * the key of another claim alone, but not that of an owner that has started over.
 * Thread-safe.
 */
final class KeyName {

	private final KeyNames names;

	private final Claim claim;

	private String text;

	/** The number of deletions that etcd may still carry out. */
	private int openDeletions;

	private boolean ownerStartsOver;

	/** Whether the name is to be returned once no deletion prevents that. */
	private boolean unused;

	KeyName(KeyNames names, Claim claim) {
		this.names = names;
		this.claim = claim;
		this.text = names.take(claim);
	}

	synchronized String text() {
		return this.text;
	}

	/**
	 * Takes another name. The present one stays taken, so that no later claim meets the
	 * key that has it.
	 */
	synchronized void change() {
		this.text = this.names.take(this.claim);
	}

	/**
	 * Records that a deletion is sent. Without its answer, etcd may carry it out late.
	 */
	synchronized void deletionSent() {
		this.openDeletions++;
	}

	/** Records that etcd has carried out a deletion. */
	synchronized void deletionAnswered() {
		this.openDeletions--;
		freeIfSafe();
	}

	/** Records that the next key of the same owner is of another queue node. */
	synchronized void ownerStartsOver() {
		this.ownerStartsOver = true;
	}

	/**
	 * Returns the name to other claims, but not while a late deletion could find a key of
	 * the same owner there. etcd must not have the key, and no request may create it.
	 */
	synchronized void free() {
		this.unused = true;
		freeIfSafe();
	}

	private void freeIfSafe() {
		if (this.unused && (this.openDeletions == 0 || !this.ownerStartsOver)) {
			this.unused = false;
			this.names.free(this.text);
		}
	}

}
