package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.backend.redis.RedisScript;

/**
 * What a node can be asked to do.
 */
final class RedlockScripts {

	static final RedisScript ACQUIRE = load("acquire");

	static final RedisScript AGREE = load("agree");

	static final RedisScript RENEW = load("renew");

	static final RedisScript RELEASE = load("release");

	static final RedisScript LOOK = load("look");

	static final RedisScript ADMIT = load("admit");

	static final RedisScript PROBE = load("probe");

	private RedlockScripts() {
	}

	private static RedisScript load(String name) {
		return RedisScript.load(RedlockScripts.class, "node", name);
	}

}
