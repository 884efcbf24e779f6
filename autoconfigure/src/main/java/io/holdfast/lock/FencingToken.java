package io.holdfast.lock;

import com.fasterxml.jackson.annotation.JsonValue;

import org.springframework.util.Assert;

/**
 * A number that grows with every grant of a lock, so that a resource can reject a stale
 * holder. The resource remembers the greatest token that it has seen and rejects smaller
 * ones.
 *
 * <p>
 * Each hold has a unique token, and re-entrant holds share it. Tokens keep growing across
 * restarts and changes of the holder. They are not consecutive, so gaps have no meaning.
 *
 * @param value the number, greater than zero
 * @see <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to do
 * distributed locking</a>
 */
public record FencingToken(long value) implements Comparable<FencingToken> {

	/**
	 * The number of low-order bits of {@link #value()} that count hand-offs inside one
	 * JVM. The store's own token occupies the bits above them.
	 */
	public static final int HAND_OFF_BITS = 10;

	private static final long MAX_STORE_TOKEN = Long.MAX_VALUE >> HAND_OFF_BITS;

	/**
	 * Validates the value.
	 * @throws IllegalArgumentException if the value is not greater than zero
	 */
	public FencingToken {
		Assert.isTrue(value > 0, () -> "A fencing token must be greater than zero, but is " + value);
	}

	/**
	 * Creates the token of a hold.
	 * @param storeToken the token that the store returned with its grant
	 * @param handOff the number of times the lease has been handed off inside this JVM
	 * since the grant
	 * @return the token
	 * @throws IllegalArgumentException if either number is out of range
	 */
	public static FencingToken of(long storeToken, int handOff) {
		Assert.isTrue(storeToken > 0 && storeToken <= MAX_STORE_TOKEN,
				() -> "Store token " + storeToken + " is not between 1 and " + MAX_STORE_TOKEN);
		Assert.isTrue(handOff >= 0 && handOff < 1 << HAND_OFF_BITS,
				() -> "Hand-off " + handOff + " is not between 0 and " + ((1 << HAND_OFF_BITS) - 1));
		return new FencingToken(storeToken << HAND_OFF_BITS | handOff);
	}

	@Override
	public int compareTo(FencingToken other) {
		return Long.compare(this.value, other.value);
	}

	/**
	 * Returns the value in decimal digits. JSON uses the same form, because clients that
	 * read numbers as 64-bit floating point would lose the last digits.
	 */
	@Override
	@JsonValue
	public String toString() {
		return Long.toString(this.value);
	}

}
