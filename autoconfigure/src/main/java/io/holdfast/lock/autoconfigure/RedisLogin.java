package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Credentials for Redis.
 *
 * @param username the user, or {@code null} for the default one
 * @param password the password, or {@code null} for none
 */
record RedisLogin(@Nullable String username, @Nullable String password) {

	@Override
	public String toString() {
		return "RedisLogin[***]";
	}

}
