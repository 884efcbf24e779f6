package io.holdfast.lock.transaction;

import java.math.BigDecimal;
import java.util.UUID;

import org.hibernate.type.ComponentType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/**
 * Compares a value that was written to the database with the stored one. The database may
 * have rounded or padded the value, or applied a default.
 */
final class StoredValue {

	private StoredValue() {
	}

	/**
	 * Returns whether the difference cannot result from writing the value.
	 * @param written the value that was written
	 * @param stored the stored value, which differs
	 */
	static boolean isOther(Type type, @Nullable Object written, @Nullable Object stored) {
		if (written == null) {
			return false;
		}
		if (type instanceof ComponentType component) {
			return isOther(component, written, stored);
		}
		if (stored == null) {
			return isExact(written);
		}
		if (written instanceof BigDecimal number && stored instanceof BigDecimal other) {
			return number.subtract(other).abs().compareTo(BigDecimal.valueOf(5, other.scale() + 1)) > 0;
		}
		if (written instanceof String text && stored instanceof String other) {
			return !text.stripTrailing().equals(other.stripTrailing());
		}
		return isExact(written) && !written.equals(stored);
	}

	private static boolean isOther(ComponentType type, Object written, @Nullable Object stored) {
		Object[] before = type.getPropertyValues(written);
		Object[] now = (stored != null) ? type.getPropertyValues(stored) : new Object[before.length];
		for (int i = 0; i < before.length; i++) {
			if (isOther(type.getSubtypes()[i], before[i], now[i])) {
				return true;
			}
		}
		return false;
	}

	private static boolean isExact(Object value) {
		return value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte
				|| value instanceof Boolean || value instanceof Enum || value instanceof UUID
				|| value instanceof BigDecimal;
	}

}
