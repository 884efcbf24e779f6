package io.holdfast.lock.support;

import java.lang.reflect.Method;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * Unboxes value classes of Kotlin. The compiler decides where such a class is boxed, for
 * example if it is nullable or passed as {@code Any}. Elsewhere, only its unboxed value
 * is known.
 */
final class KotlinValues {

	/** The method of a value class that returns its unboxed value. */
	private static final ClassValue<Optional<Method>> UNBOXING = new ClassValue<>() {

		@Override
		protected Optional<Method> computeValue(Class<?> type) {
			return Optional.ofNullable(ReflectionUtils.findMethod(type, "unbox-impl"));
		}

	};

	private KotlinValues() {
	}

	/** Returns what a value class wraps, or any other value itself. */
	static @Nullable Object unboxed(@Nullable Object value) {
		Method unboxing = (value != null) ? UNBOXING.get(value.getClass()).orElse(null) : null;
		if (unboxing == null) {
			return value;
		}
		ReflectionUtils.makeAccessible(unboxing);
		return unboxed(ReflectionUtils.invokeMethod(unboxing, value));
	}

}
