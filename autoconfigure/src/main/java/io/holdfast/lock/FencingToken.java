package io.holdfast.lock;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * A number that grows with every grant of a lock, so that a resource can reject a stale
 * holder. The resource remembers the greatest token that it has seen and rejects smaller
 * ones.
 *
 * <p>
 * Each hold has a unique token, and reentrant holds share it. Tokens keep growing across
 * restarts and changes of the holder. They are not consecutive, so gaps have no meaning.
 *
 * @param value the number, greater than zero
 * @see <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to do
 * distributed locking</a>
 */
public record FencingToken(long value) implements Comparable<FencingToken> {

	/**
	 * Validates the value.
	 * @throws IllegalArgumentException if the value is not greater than zero
	 */
	public FencingToken {
		if (value <= 0) {
			throw new IllegalArgumentException("A fencing token must be greater than zero, but is " + value);
		}
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
