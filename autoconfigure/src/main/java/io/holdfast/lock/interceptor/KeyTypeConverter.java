package io.holdfast.lock.interceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.spel.support.StandardTypeConverter;

import io.holdfast.lock.support.KeyText;

/**
 * Converts a value within a longer text, as in {@code 'order-' + #id}, to the text that
 * it would have as a key of its own.
 */
final class KeyTypeConverter extends StandardTypeConverter {

	@Override
	public boolean canConvert(@Nullable TypeDescriptor sourceType, TypeDescriptor targetType) {
		return targetType.getType() == String.class || super.canConvert(sourceType, targetType);
	}

	@Override
	public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor sourceType,
			TypeDescriptor targetType) {
		return (value != null && targetType.getType() == String.class) ? KeyText.of(value)
				: super.convertValue(value, sourceType, targetType);
	}

}
