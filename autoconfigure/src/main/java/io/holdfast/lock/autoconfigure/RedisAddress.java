package io.holdfast.lock.autoconfigure;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Address of one Redis server, with its credentials separated so that no message shows
 * them. It is not parsed as a URI, because a parse error would quote the password.
 *
 * @param tls whether to use TLS
 * @param hostAndPort the host and the port
 * @param username the user in the address, or {@code null}
 * @param password the password in the address, or {@code null}
 * @param database the number of the database in the address, or {@code null}
 */
record RedisAddress(boolean tls, String hostAndPort, @Nullable String username, @Nullable String password,
		@Nullable Integer database) {

	private static final Pattern LOCATION = Pattern
		.compile("(\\[[0-9a-fA-F:.%]+]|[^/:\\[\\]\\s]+)(?::(\\d{1,5}))?(?:/(\\d{0,9}))?");

	private static final String DEFAULT_PORT = "6379";

	private static final int LAST_PORT = 65535;

	static RedisAddress parse(String property, String text) {
		String address = text.strip();
		int scheme = address.indexOf("://");
		String name = (scheme > 0) ? address.substring(0, scheme) : "";
		int at = address.lastIndexOf('@');
		Matcher location = LOCATION.matcher((scheme > 0) ? address.substring(Math.max(scheme + 3, at + 1)) : "");
		if (!(name.equals("redis") || name.equals("rediss")) || !location.matches() || !isPort(port(location))) {
			throw new LockConfigurationException(
					"The property '%s' is '%s', which is not a Redis address. Use redis://host:port, or rediss://host:port for TLS."
						.formatted(property, redacted(text)));
		}
		String[] login = (at > 0) ? login(address.substring(scheme + 3, at)) : new String[] { "", "" };
		String database = location.group(3);
		return new RedisAddress(name.equals("rediss"), location.group(1) + ":" + port(location),
				RedisLogin.emptyToNull(login[0]), RedisLogin.emptyToNull(login[1]),
				StringUtils.hasLength(database) ? Integer.valueOf(database) : null);
	}

	private static String port(Matcher location) {
		String port = location.group(2);
		return (port != null) ? port : DEFAULT_PORT;
	}

	private static boolean isPort(String text) {
		int port = Integer.parseInt(text);
		return port > 0 && port <= LAST_PORT;
	}

	/**
	 * Returns the user and the password. Credentials without a colon are a password
	 * alone.
	 */
	private static String[] login(String text) {
		int colon = text.indexOf(':');
		return new String[] { (colon > 0) ? decode(text.substring(0, colon)) : "", decode(text.substring(colon + 1)) };
	}

	private static String decode(String text) {
		try {
			return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
		}
		catch (IllegalArgumentException ex) {
			return text;
		}
	}

	/** Returns an address without its credentials, for messages. */
	static String redacted(String address) {
		int at = address.lastIndexOf('@');
		if (at < 0) {
			return address;
		}
		int scheme = address.indexOf("://");
		return ((scheme > 0) ? address.substring(0, scheme + 3) : "") + "***" + address.substring(at);
	}

	@Override
	public String toString() {
		return this.hostAndPort;
	}

}
