package io.holdfast.lock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.holdfast.lock.LockName;

/**
 * The identity of a lock's row. It is a digest, because a key may be longer than an index
 * allows, and because databases compare texts in their own ways: one takes two keys for
 * the same that differ by an accent, another refuses a character.
 *
 * @param id 64 hexadecimal digits
 * @param name the lock as people read it: shortened, and without what a database might
 * refuse
 */
record LockRow(String id, String name) {

	private static final int NAME_LENGTH = 255;

	static LockRow of(String namespace, LockName lock) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			digest.update(namespace.getBytes(StandardCharsets.UTF_8));
			// no namespace and no lock's name has a zero in it, so no two can run
			// together
			digest.update((byte) 0);
			// every char counts, also half a surrogate pair, which UTF-8 has no room for
			digest.update(lock.toString().getBytes(StandardCharsets.UTF_16));
			return new LockRow(HexFormat.of().formatHex(digest.digest()), readable(lock.toString()));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java has SHA-256", ex);
		}
	}

	private static String readable(String lock) {
		StringBuilder text = new StringBuilder();
		lock.chars().limit(NAME_LENGTH).forEach((c) -> text.append((c >= ' ' && c < 0x7F) ? (char) c : '?'));
		return text.toString();
	}

}
