package io.holdfast.lock.support;

import java.lang.reflect.Method;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Recognizes the text of {@code Object.toString()} within another text, as in the
 * generated {@code toString()} of a class whose field has an array or an object without a
 * text of its own.
 */
final class IdentityText {

	/**
	 * A hash is rarely shorter, other than a number such as that of {@code [S@10, M@20]}.
	 * An address such as {@code joe@cafe00.example} goes on after it.
	 */
	private static final String HASH = "@[0-9a-f]{5,8}(?![\\w.-])";

	private static final Pattern ARRAY = Pattern.compile("\\[(?:[ZBCDFIJS]|L[\\w.$]++;)" + HASH);

	/**
	 * A class loader remembers each name that it is asked for, so few texts may look like
	 * one.
	 */
	private static final Pattern OBJECT = Pattern
		.compile("(?<![\\w.$])((?:[a-z_]\\w*+\\.)++[A-Z][\\w$]*+)(/0x[0-9a-f]++)?" + HASH);

	private static final ClassValue<Boolean> ONLY_TEXT = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			Method toString = ReflectionUtils.findMethod(type, "toString");
			return toString == null || toString.getDeclaringClass() == Object.class;
		}

	};

	private IdentityText() {
	}

	/** Returns whether a type has no {@code toString()} of its own. */
	static boolean isOnlyTextOf(Class<?> type) {
		return ONLY_TEXT.get(type);
	}

	/**
	 * Returns the type of the first object in a text that has no text of its own.
	 * @param text the text
	 * @param loader finds the class of the object: a text that only looks alike names
	 * none
	 * @return the name of the type, or {@code null} if there is no such object
	 */
	static @Nullable String find(String text, @Nullable ClassLoader loader) {
		if (text.indexOf('@') < 0) {
			return null;
		}
		if (ARRAY.matcher(text).find()) {
			return Object[].class.getTypeName();
		}
		Matcher object = OBJECT.matcher(text);
		while (object.find()) {
			// the class of a lambda has an address in its name, and cannot be loaded by
			// it
			if (object.group(2) != null || hasOnlyText(object.group(1), loader)) {
				return object.group(1);
			}
		}
		return null;
	}

	private static boolean hasOnlyText(String name, @Nullable ClassLoader loader) {
		try {
			return isOnlyTextOf(ClassUtils.forName(name, loader));
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return false;
		}
	}

}
