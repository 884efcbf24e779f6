package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Credentials for Redis.
 *
 * @param username the user, or {@code null} for the default one
 * @param password the password, or {@code null} for none
 */
record RedisLogin(@Nullable String username, @Nullable String password) {

	RedisLogin {
		username = emptyToNull(username);
		password = emptyToNull(password);
	}

	/**
	 * Returns the credentials of an address, completed by the properties of a store.
	 * @param prefix the prefix of the properties, for the message
	 * @param username the username of the properties, or {@code null}
	 * @param password the password of the properties, or {@code null}
	 * @throws LockConfigurationException if there is a username without a password, which
	 * no library would send
	 */
	static RedisLogin of(RedisAddress address, String prefix, @Nullable String username, @Nullable String password) {
		String user = (address.username() != null) ? address.username() : username;
		String secret = (address.password() != null) ? address.password() : password;
		if (user != null && secret == null) {
			throw new LockConfigurationException(
					"The property '%s.username' is '%s', but there is no password for %s. Set '%s.password' as well, or remove the username."
						.formatted(prefix, user, address, prefix));
		}
		return new RedisLogin(user, secret);
	}

	/**
	 * Returns {@code null} for an empty text, such as the default of a placeholder. A
	 * server would reject an empty username.
	 */
	static @Nullable String emptyToNull(@Nullable String text) {
		return StringUtils.hasText(text) ? text : null;
	}

	@Override
	public String toString() {
		return "RedisLogin[***]";
	}

}
