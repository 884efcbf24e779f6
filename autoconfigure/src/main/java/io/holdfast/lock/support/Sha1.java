package io.holdfast.lock.support;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-1 digests, by which Redis caches scripts.
 */
public final class Sha1 {

	private Sha1() {
	}

	/**
	 * Returns the digest of a text in UTF-8.
	 * @param text the text
	 * @return its SHA-1 digest, in hexadecimal
	 */
	public static String hex(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
