package io.holdfast.lock.spi;

import java.util.UUID;

/**
 * The random identity of one acquisition. It is never derived from a host, a JVM or a
 * thread, so two acquisitions are never confused.
 *
 * @param value 36 characters: a random UUID
 */
public record OwnerId(String value) {

	/**
	 * Creates a new identity.
	 * @return the identity
	 */
	public static OwnerId random() {
		return new OwnerId(UUID.randomUUID().toString());
	}

	@Override
	public String toString() {
		return this.value;
	}

}
