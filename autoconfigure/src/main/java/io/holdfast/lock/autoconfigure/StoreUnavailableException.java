package io.holdfast.lock.autoconfigure;

import java.util.List;

import io.holdfast.lock.LockBackendException;

/**
 * Thrown at application startup if the store that keeps the locks cannot be used.
 */
final class StoreUnavailableException extends LockBackendException {

	private final String description;

	private final List<String> remedies;

	StoreUnavailableException(String description, List<String> remedies, LockBackendException cause) {
		super(description + " " + String.join(" ", remedies), cause.getCause());
		this.description = description;
		this.remedies = remedies;
	}

	String description() {
		return this.description;
	}

	/** Returns the remedies, each a sentence. */
	List<String> remedies() {
		return this.remedies;
	}

}
