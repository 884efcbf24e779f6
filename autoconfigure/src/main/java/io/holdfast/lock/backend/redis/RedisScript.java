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

	/** What scripts need that keep sets whose members end one by one. */
	private static final RedisScript MEMBERS = load(RedisScript.class, "members");

	static final RedisScript ACQUIRE = loadWithMembers(RedisScript.class, "line", "acquire");

	static final RedisScript RENEW = loadWithMembers(RedisScript.class, "line", "renew");

	static final RedisScript RELEASE = loadWithMembers(RedisScript.class, "line", "wake", "release");

	static final RedisScript ABANDON = loadWithMembers(RedisScript.class, "line", "wake", "abandon");

	static final RedisScript PROBE = load(RedisScript.class, "probe");

	/**
	 * Read a script that lies beside a class and keeps sets whose members end one by one.
	 * @param room the class
	 * @param parts the names of its files without '.lua', to be put one after another
	 * behind 'members.lua' of this room
	 * @return the script
	 */
	public static RedisScript loadWithMembers(Class<?> room, String... parts) {
		String text = MEMBERS.text() + load(room, parts).text();
		return new RedisScript(text, sha1(text));
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
