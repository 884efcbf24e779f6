package io.holdfast.lock.autoconfigure;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * The library that connects to Redis.
 */
enum RedisClientLibrary {

	/**
	 * The one that the application uses, otherwise one that is on the class path.
	 */
	AUTO("", "", ""),

	REDISSON("org.redisson.api.RedissonClient", "org.redisson:redisson", "org.redisson:redisson"),

	/**
	 * Spring Data Redis includes it. For Redlock, Spring Data Redis would only be one
	 * more configured store.
	 */
	LETTUCE("io.lettuce.core.RedisClient", "org.springframework.boot:spring-boot-starter-data-redis",
			"io.lettuce:lettuce-core");

	private final String type;

	private final String dependency;

	private final String dependencyOfRedlock;

	RedisClientLibrary(String type, String dependency, String dependencyOfRedlock) {
		this.type = type;
		this.dependency = dependency;
		this.dependencyOfRedlock = dependencyOfRedlock;
	}

	/**
	 * Returns the dependencies that bring a library for a store, as messages name them.
	 * @param environment selects one library, or permits each
	 */
	static String dependencies(LockStore store, Environment environment) {
		for (RedisClientLibrary library : values()) {
			if (library != AUTO && library.isSelected(store, environment)) {
				return "'%s'".formatted(library.dependency(store));
			}
		}
		return "'%s' or '%s'".formatted(REDISSON.dependency(store), LETTUCE.dependency(store));
	}

	/** Whether the property of a store selects this library. */
	boolean isSelected(LockStore store, Environment environment) {
		return id().equals(LockStore.normalized(environment.getProperty(property(store))));
	}

	/** Returns the property that selects the library for a store. */
	private static String property(LockStore store) {
		return "distributed-lock.%s.client".formatted(store.id());
	}

	private String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	/** Returns the dependency that brings the library for a store. */
	String dependency(LockStore store) {
		return (store == LockStore.REDLOCK) ? this.dependencyOfRedlock : this.dependency;
	}

	private boolean isPresent(@Nullable ClassLoader classLoader) {
		return ClassUtils.isPresent(this.type, classLoader);
	}

	/**
	 * Validates this setting of a store.
	 * @throws LockConfigurationException if it selects a library that is not on the class
	 * path
	 */
	void requirePresent(LockStore store, @Nullable ClassLoader classLoader) {
		if (this != AUTO && !isPresent(classLoader)) {
			throw new LockConfigurationException(
					"The property '%s' is '%s', but this library is not on the class path. Add the dependency '%s', or remove the property."
						.formatted(property(store), id(), dependency(store)));
		}
	}

	/** Whether this setting permits a library, which is on the class path. */
	boolean permits(RedisClientLibrary library, @Nullable ClassLoader classLoader) {
		return (this == library || this == AUTO) && library.isPresent(classLoader);
	}

}
