package io.holdfast.lock;

import com.fasterxml.jackson.annotation.JsonValue;

import org.springframework.util.Assert;

/**
 * A number that grows with every grant of a lock, so that a resource can refuse a holder
 * that was overtaken: it remembers the greatest token it has seen and turns a smaller one
 * away.
 *
 * <p>
 * Unique per hold and the same on re-entry. It grows over restarts and changes of the
 * holder; it does not count, so gaps mean nothing.
 *
 * @param value the number, greater than zero
 * @see <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to do
 * distributed locking</a>
 */
public record FencingToken(long value) implements Comparable<FencingToken> {

	/**
	 * How many bits of {@link #value()} count the hand-offs inside one JVM; the store's
	 * own token stands above them.
	 */
	public static final int HAND_OFF_BITS = 10;

	private static final long MAX_STORE_TOKEN = Long.MAX_VALUE >> HAND_OFF_BITS;

	/**
	 * Check the value.
	 * @throws IllegalArgumentException if the value is not greater than zero
	 */
	public FencingToken {
		Assert.isTrue(value > 0, () -> "A fencing token is greater than zero, not " + value);
	}

	/**
	 * The token of a hold.
	 * @param storeToken the token that the store gave with its grant
	 * @param handOff how often the lease was handed on inside this JVM since
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
	 * The value in decimal digits. Also its form in JSON: as a number it would lose its
	 * last digits in clients that read numbers as 64-bit floating point.
	 */
	@Override
	@JsonValue
	public String toString() {
		return Long.toString(this.value);
	}

}
