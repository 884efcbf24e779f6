package io.holdfast.lock.spi;

import java.util.Objects;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * The random identity of one acquisition. It is never derived from a host, a JVM or a
 * thread, so two acquisitions are never confused. Two identities are equal if their texts
 * are. Immutable and thread-safe.
 */
public final class OwnerId {

	private final long high;

	private final long low;

	/**
	 * Created when it is first needed, because a store in memory needs none. Several
	 * threads may create the same text.
	 */
	private @Nullable String value;

	/**
	 * Creates an identity from its text.
	 * @param value the text; 36 characters if the identity was created from numbers
	 */
	public OwnerId(String value) {
		this.high = 0;
		this.low = 0;
		this.value = Objects.requireNonNull(value, "'value' must not be null");
	}

	/**
	 * Creates an identity from a random number of 128 bits.
	 * @param high the first half of its bits
	 * @param low the other half
	 */
	public OwnerId(long high, long low) {
		this.high = high;
		this.low = low;
	}

	/**
	 * Creates a new identity.
	 * @return the identity
	 */
	public static OwnerId random() {
		UUID random = UUID.randomUUID();
		return new OwnerId(random.getMostSignificantBits(), random.getLeastSignificantBits());
	}

	/**
	 * Returns the text of the identity.
	 * @return 36 characters in the form of a random UUID, or the text given to the
	 * constructor
	 */
	public String value() {
		String text = this.value;
		if (text == null) {
			text = new UUID(this.high, this.low).toString();
			this.value = text;
		}
		return text;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other || (other instanceof OwnerId id && value().equals(id.value()));
	}

	@Override
	public int hashCode() {
		return value().hashCode();
	}

	@Override
	public String toString() {
		return value();
	}

}
