package io.holdfast.lock.support;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Texts of values that have no parts.
 */
final class LeafText {

	/** The characters that separate the parts of a list, a map or a record. */
	private static final Pattern SEPARATOR = Pattern.compile("[\\\\,=\\[\\]{}]");

	private static final double EXACT_DOUBLES = 0x1p53;

	private static final double EXACT_FLOATS = 0x1p24;

	private LeafText() {
	}

	/**
	 * Returns the value that identifies another one, which is a reference to it or has it
	 * as its name. The text of a {@link Principal} often contains more: that of Spring
	 * Security's differs between sessions.
	 * @return the value, or the other one itself
	 */
	static @Nullable Object content(@Nullable Object value) {
		if (value instanceof AtomicReference<?> reference) {
			return reference.get();
		}
		return (value instanceof Principal principal && !(value instanceof Record || value instanceof Enum))
				? name(principal) : value;
	}

	/** The name may be the text of a user, which may have no identity of its own. */
	private static @Nullable Object name(Principal principal) {
		@Nullable String name = principal.getName();
		return (name == null || IdentityText.find(name, principal.getClass().getClassLoader()) == null) ? name
				: principal;
	}

	/** Equal addresses may differ in their host name and, with IPv6, in their scope. */
	static String address(Object value) {
		if (value instanceof InetSocketAddress socket) {
			String host = (socket.getAddress() != null) ? address(socket.getAddress())
					: socket.getHostString().toLowerCase(Locale.ROOT);
			return host + ":" + socket.getPort();
		}
		return ((InetAddress) value).getHostAddress().split("%", 2)[0];
	}

	/**
	 * Since version 19, Java writes fewer digits of a large number, such as an id that a
	 * JSON parser has read as a {@code double}.
	 */
	static String number(Number value) {
		double number = Math.abs(value.doubleValue());
		boolean large = number >= ((value instanceof Float) ? EXACT_FLOATS : EXACT_DOUBLES);
		return (large && Double.isFinite(number)) ? new BigDecimal(value.doubleValue()).toString() : value.toString();
	}

	/**
	 * Escapes a text within that of a list, a map or a record, so that it cannot be
	 * mistaken for several parts.
	 */
	static String escaped(String text) {
		return SEPARATOR.matcher(text).replaceAll("\\\\$0");
	}

}
