package io.holdfast.lock.backend.redlock;

import java.util.stream.Stream;

import io.holdfast.lock.backend.redis.RedisScript;

/**
 * The scripts that run on a node.
 */
final class RedlockScripts {

	static final RedisScript ACQUIRE = loadWithSets("token", "acquire");

	static final RedisScript AGREE = loadWithSets("agree");

	static final RedisScript RENEW = loadWithSets("renew");

	static final RedisScript RELEASE = loadWithSets("token", "notify", "release");

	static final RedisScript FIND = loadWithSets("find");

	static final RedisScript LOOK = load("look");

	static final RedisScript ADMIT = load("admit");

	static final RedisScript PROBE = loadWithSets("probe");

	private RedlockScripts() {
	}

	private static RedisScript load(String name) {
		return RedisScript.load(RedlockScripts.class, "node", name);
	}

	private static RedisScript loadWithSets(String... names) {
		return RedisScript.loadWithMembers(RedlockScripts.class,
				Stream.concat(Stream.of("node", "sets"), Stream.of(names)).toArray(String[]::new));
	}

}
