package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The library that connects to Redis.
 */
enum RedisClientLibrary {

	/**
	 * The one that the application uses, otherwise one that is on the class path.
	 */
	AUTO("", ""),

	REDISSON("org.redisson.api.RedissonClient", "org.redisson:redisson"),

	/** Spring Data Redis includes it. */
	LETTUCE("io.lettuce.core.RedisClient", "org.springframework.boot:spring-boot-starter-data-redis");

	private final String type;

	private final String dependency;

	RedisClientLibrary(String type, String dependency) {
		this.type = type;
		this.dependency = dependency;
	}

	/** Returns the dependency that brings the library. */
	String dependency() {
		return this.dependency;
	}

	boolean isPresent(@Nullable ClassLoader classLoader) {
		return ClassUtils.isPresent(this.type, classLoader);
	}

}
