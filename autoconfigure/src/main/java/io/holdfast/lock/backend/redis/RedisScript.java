package io.holdfast.lock.backend.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import org.springframework.core.io.ClassPathResource;

/**
 * One of our scripts: its text and the digest by which Redis remembers it.
 *
 * @param text the Lua text
 * @param sha1 its digest, in hexadecimal
 */
public record RedisScript(String text, String sha1) {

	static final RedisScript ACQUIRE = load("line", "acquire");

	static final RedisScript RENEW = load("line", "renew");

	static final RedisScript RELEASE = load("line", "wake", "release");

	static final RedisScript ABANDON = load("line", "wake", "abandon");

	static final RedisScript PROBE = load("probe");

	private static RedisScript load(String... parts) {
		return load(RedisScript.class, parts);
	}

	/**
	 * Read a script that lies beside a class.
	 * @param room the class
	 * @param parts the names of its files without '.lua', to be put one after another
	 * @return the script
	 */
	public static RedisScript load(Class<?> room, String... parts) {
		StringBuilder text = new StringBuilder();
		for (String part : parts) {
			text.append(read(room, part + ".lua"));
		}
		return new RedisScript(text.toString(), sha1(text.toString()));
	}

	private static String read(Class<?> room, String file) {
		try {
			return new ClassPathResource(file, room).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String sha1(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
