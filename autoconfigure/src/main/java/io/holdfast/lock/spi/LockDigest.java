package io.holdfast.lock.spi;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.holdfast.lock.LockName;

/**
 * The identity of a lock for stores that do not accept arbitrary text as a key. A key may
 * be longer than an index allows, contain characters that a path must not contain, or
 * differ from another key only by characters that a database treats as equal.
 */
public final class LockDigest {

	private LockDigest() {
	}

	/**
	 * Returns the digest of a lock.
	 * @param namespace the namespace that separates the locks of this application from
	 * those of others
	 * @param lock the lock
	 * @return 64 hexadecimal digits, different for every two locks
	 */
	public static String of(String namespace, LockName lock) {
		byte[] space = namespace.getBytes(StandardCharsets.UTF_8);
		String id = lock.id();
		// a namespace contains no zero, so namespace and lock cannot run together
		ByteBuffer text = ByteBuffer.allocate(space.length + 1 + 2 * id.length()).put(space).put((byte) 0);
		// every char counts, even half a surrogate pair, which no charset can represent
		text.asCharBuffer().put(id);
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.array()));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is not available", ex);
		}
	}

	/**
	 * Returns the lock in a readable form that is safe where arbitrary text is not
	 * allowed. A question mark replaces everything but printable ASCII.
	 * @param lock the lock
	 * @param length the maximum number of characters
	 * @return the text
	 */
	public static String readable(LockName lock, int length) {
		char[] text = lock.id().substring(0, Math.min(length, lock.id().length())).toCharArray();
		for (int i = 0; i < text.length; i++) {
			text[i] = (text[i] >= ' ' && text[i] < 0x7F) ? text[i] : '?';
		}
		return new String(text);
	}

}
