package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * The text of a value as a key. Two values have the same text if, and only if, they stand
 * for the same thing.
 */
final class KeyText {

	private static final ClassValue<Boolean> HAS_TEXT_OF_ITS_OWN = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			Method toString = ReflectionUtils.findMethod(type, "toString");
			return toString != null && toString.getDeclaringClass() != Object.class;
		}

	};

	private KeyText() {
	}

	/** The value in an {@code Optional}, or {@code null} if that is empty. */
	static @Nullable Object unwrapped(@Nullable Object value) {
		if (value instanceof Optional<?> optional) {
			return optional.orElse(null);
		}
		if (value instanceof OptionalLong optional) {
			return optional.isPresent() ? optional.getAsLong() : null;
		}
		if (value instanceof OptionalInt optional) {
			return optional.isPresent() ? optional.getAsInt() : null;
		}
		return value;
	}

	/**
	 * Why a value cannot be a key.
	 * @return the end of a sentence that begins with the key; {@code null} if it can be
	 * one
	 */
	static @Nullable String problem(@Nullable Object value) {
		Object content = unwrapped(value);
		if (content == null) {
			return shared((value != null) ? "an empty Optional" : "null");
		}
		if (content.toString().isBlank()) {
			return shared("blank");
		}
		return identifies(content) ? null : noIdentity(content.getClass());
	}

	private static String shared(String what) {
		return "is " + what
				+ ", so unrelated calls would share one lock. Pass a value, or leave the key out if one lock for all calls is meant";
	}

	static String noIdentity(Class<?> type) {
		return "is a %s, whose text does not identify it: it has none but that of Object.toString(), so every call would have a lock of its own. Name what identifies it, such as its id"
			.formatted(type.getTypeName());
	}

	/**
	 * Whether every value of a type has a text of its own, as far as the type shows it.
	 */
	static boolean identifies(Class<?> type) {
		return type.isPrimitive() || HAS_TEXT_OF_ITS_OWN.get(type);
	}

	/** Whether the text of a value does not change from object to object. */
	static boolean identifies(@Nullable Object value) {
		if (value == null) {
			return true;
		}
		if (value instanceof Collection<?> several) {
			return several.stream().allMatch(KeyText::identifies);
		}
		if (value instanceof Map<?, ?> entries) {
			return identifies(entries.keySet()) && identifies(entries.values());
		}
		if (value instanceof Record && value.toString().indexOf('@') >= 0) {
			return componentsIdentify(value);
		}
		return HAS_TEXT_OF_ITS_OWN.get(value.getClass());
	}

	private static boolean componentsIdentify(Object value) {
		for (RecordComponent component : value.getClass().getRecordComponents()) {
			ReflectionUtils.makeAccessible(component.getAccessor());
			if (!identifies(ReflectionUtils.invokeMethod(component.getAccessor(), value))) {
				return false;
			}
		}
		return true;
	}

}
