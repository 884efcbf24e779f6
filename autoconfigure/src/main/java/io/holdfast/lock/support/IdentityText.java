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

	/** An address such as {@code joe@cafe.example} goes on after the hash. */
	private static final String HASH = "@[0-9a-f]{1,8}(?![\\w.-])";

	private static final Pattern ARRAY = Pattern.compile("\\[(?:[ZBCDFIJS]|L[\\w.$]++;)" + HASH);

	private static final Pattern OBJECT = Pattern.compile("(?<![\\w.$])([\\w$]++(?:\\.[\\w$]++)++)" + HASH);

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
	 * @return the type, or {@code null} if there is no such object
	 */
	static @Nullable Class<?> find(String text, @Nullable ClassLoader loader) {
		if (text.indexOf('@') < 0) {
			return null;
		}
		if (ARRAY.matcher(text).find()) {
			return Object[].class;
		}
		Matcher object = OBJECT.matcher(text);
		while (object.find()) {
			Class<?> type = type(object.group(1), loader);
			if (type != null && isOnlyTextOf(type)) {
				return type;
			}
		}
		return null;
	}

	private static @Nullable Class<?> type(String name, @Nullable ClassLoader loader) {
		try {
			return ClassUtils.forName(name, loader);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return null;
		}
	}

}
