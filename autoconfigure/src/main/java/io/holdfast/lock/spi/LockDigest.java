package io.holdfast.lock.spi;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.holdfast.lock.LockName;

/**
 * The identity of a lock for stores that cannot take any text as a key: a key may be
 * longer than an index allows, hold what a path must not, or differ from another only by
 * what a database takes for the same.
 */
public final class LockDigest {

	private LockDigest() {
	}

	/**
	 * The digest of a lock.
	 * @param namespace what the locks of this application are told apart by from those of
	 * others
	 * @param lock the lock
	 * @return 64 hexadecimal digits, different for every two locks
	 */
	public static String of(String namespace, LockName lock) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			digest.update(namespace.getBytes(StandardCharsets.UTF_8));
			// no namespace has a zero in it, so it cannot run together with the lock
			digest.update((byte) 0);
			// every char counts, also half a surrogate pair, which UTF-8 has no room for
			for (char c : lock.toString().toCharArray()) {
				digest.update((byte) (c >> 8));
				digest.update((byte) c);
			}
			return HexFormat.of().formatHex(digest.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java has SHA-256", ex);
		}
	}

	/**
	 * The lock as people read it where any text might not be allowed: with a question
	 * mark for everything but printable ASCII.
	 * @param lock the lock
	 * @param length the most characters
	 * @return the text
	 */
	public static String readable(LockName lock, int length) {
		StringBuilder text = new StringBuilder();
		lock.toString().chars().limit(length).forEach((c) -> text.append((c >= ' ' && c < 0x7F) ? (char) c : '?'));
		return text.toString();
	}

}
