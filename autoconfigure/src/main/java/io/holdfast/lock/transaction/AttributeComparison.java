package io.holdfast.lock.transaction;

import java.sql.Blob;
import java.sql.Clob;
import java.sql.SQLException;
import java.util.Arrays;

import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.BasicType;
import org.hibernate.type.ComponentType;
import org.hibernate.type.Type;
import org.hibernate.type.descriptor.java.JavaType;
import org.jspecify.annotations.Nullable;

/**
 * Compares attributes by what the database stores. Hibernate's own comparison also counts
 * two instances as different that have no {@code equals}, such as those of some
 * converters, and two large objects with the same content.
 */
final class AttributeComparison {

	private static final int CHUNK = 1 << 20;

	private AttributeComparison() {
	}

	/**
	 * Returns the attributes whose values differ. Values that do not equal their own copy
	 * cannot be compared, so they never differ.
	 */
	static int[] different(EntityPersister persister, Object[] one, Object[] other, Object entity,
			SharedSessionContractImplementor session) {
		int[] different = persister.findDirty(one, other, entity, session);
		Type[] types = persister.getPropertyTypes();
		return (different != null) ? Arrays.stream(different)
			.filter((attribute) -> isOther(types[attribute], one[attribute], other[attribute], session))
			.toArray() : new int[0];
	}

	private static boolean isOther(Type type, @Nullable Object one, @Nullable Object other,
			SharedSessionContractImplementor session) {
		if (other == LazyPropertyInitializer.UNFETCHED_PROPERTY) {
			return true;
		}
		if (!type.isDirty(other, one, session)) {
			return false;
		}
		if (one != null && other != null && type instanceof ComponentType component
				&& one.getClass() == other.getClass()) {
			return isOther(component, one, other, session);
		}
		return !isStoredAs(type, one, other) && isComparable(type, one, session);
	}

	private static boolean isOther(ComponentType type, Object one, Object other,
			SharedSessionContractImplementor session) {
		Object[] values = type.getPropertyValues(one);
		Object[] others = type.getPropertyValues(other);
		for (int i = 0; i < values.length; i++) {
			if (isOther(type.getSubtypes()[i], values[i], others[i], session)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isComparable(Type type, @Nullable Object value, SharedSessionContractImplementor session) {
		Object copy = type.deepCopy(value, session.getFactory());
		return !type.isDirty(copy, value, session) || isStoredAs(type, value, copy);
	}

	private static boolean isStoredAs(Type type, @Nullable Object one, @Nullable Object other) {
		if (one == null || other == null || !(type instanceof BasicType<?> basic)) {
			return false;
		}
		if (one instanceof Blob || one instanceof Clob) {
			return hasContentOf(one, other);
		}
		return basic.getValueConverter() != null && areEqual(basic.getJdbcJavaType(),
				basic.convertToRelationalValue(one), basic.convertToRelationalValue(other));
	}

	@SuppressWarnings("unchecked")
	private static <T> boolean areEqual(JavaType<T> type, @Nullable Object one, @Nullable Object other) {
		return one == other || (one != null && other != null && type.areEqual((T) one, (T) other));
	}

	/**
	 * Returns whether two large objects have the same content. One that cannot be read
	 * any more counts as different.
	 */
	private static boolean hasContentOf(Object one, Object other) {
		try {
			return (one instanceof Blob blob && other instanceof Blob second && isSame(blob, second))
					|| (one instanceof Clob clob && other instanceof Clob last && isSame(clob, last));
		}
		catch (SQLException | RuntimeException ex) {
			return false;
		}
	}

	private static boolean isSame(Blob one, Blob other) throws SQLException {
		long length = one.length();
		if (length != other.length()) {
			return false;
		}
		for (long at = 0; at < length; at += CHUNK) {
			int size = (int) Math.min(CHUNK, length - at);
			if (!Arrays.equals(one.getBytes(at + 1, size), other.getBytes(at + 1, size))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isSame(Clob one, Clob other) throws SQLException {
		long length = one.length();
		if (length != other.length()) {
			return false;
		}
		for (long at = 0; at < length; at += CHUNK) {
			int size = (int) Math.min(CHUNK, length - at);
			if (!one.getSubString(at + 1, size).equals(other.getSubString(at + 1, size))) {
				return false;
			}
		}
		return true;
	}

}
