package io.holdfast.lock.backend.redis;

import io.holdfast.lock.support.Resources;
import io.holdfast.lock.support.Sha1;

/**
 * A Lua script and the digest by which Redis caches it.
 *
 * @param text the Lua text
 * @param sha1 its SHA-1 digest, in hexadecimal
 */
public record RedisScript(String text, String sha1) {

	/**
	 * Functions for sorted sets whose members expire individually, for wait queues, and
	 * for sticky leases.
	 */
	private static final RedisScript MEMBERS = load(RedisScript.class, "clock", "members", "demand");

	static final RedisScript ACQUIRE = load(RedisScript.class, "clock", "token", "acquire-free", "members", "demand",
			"queue", "acquire");

	static final RedisScript RENEW = loadWithMembers(RedisScript.class, "queue", "renew");

	static final RedisScript RELEASE = load(RedisScript.class, "release-exclusive", "clock", "token", "members",
			"demand", "queue", "notify", "release");

	static final RedisScript ABANDON = loadWithMembers(RedisScript.class, "token", "queue", "notify", "abandon");

	static final RedisScript FIND = loadWithMembers(RedisScript.class, "queue", "find");

	static final RedisScript PROBE = load(RedisScript.class, "probe");

	/**
	 * Loads a script that uses sorted sets whose members expire individually, or demands
	 * sticky leases.
	 * @param location the class in whose package the files are
	 * @param parts the names of its files without '.lua', concatenated after 'clock.lua',
	 * 'members.lua' and 'demand.lua' of this package
	 * @return the script
	 */
	public static RedisScript loadWithMembers(Class<?> location, String... parts) {
		String text = MEMBERS.text() + load(location, parts).text();
		return new RedisScript(text, Sha1.hex(text));
	}

	/**
	 * Loads a script.
	 * @param location the class in whose package the files are
	 * @param parts the names of its files without '.lua', concatenated in this order
	 * @return the script
	 */
	public static RedisScript load(Class<?> location, String... parts) {
		StringBuilder text = new StringBuilder();
		for (String part : parts) {
			text.append(Resources.text(location, part + ".lua"));
		}
		return new RedisScript(text.toString(), Sha1.hex(text.toString()));
	}

}
