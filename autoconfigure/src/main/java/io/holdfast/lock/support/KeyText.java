package io.holdfast.lock.support;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Converts a value to the text of a lock's key. The text is the same in every JVM for
 * equal values; otherwise the value is rejected. With a different text, another instance
 * would use a different lock.
 *
 * <p>
 * A value is represented by its {@code toString()}, with some exceptions. The text of an
 * enum constant is its name. That of a {@link Date} or a {@link Calendar} is its instant,
 * that of an {@link InetAddress} lacks the host name, which it may or may not know, and
 * that of a {@link Principal} is its name, and that of an {@code Optional} is the text of
 * its content. Lists, arrays, sorted sets and maps, and records consist of the texts of
 * their parts, in which a backslash precedes each character that separates parts. A value
 * class of Kotlin is represented by its unboxed value.
 *
 * <p>
 * A value is rejected if its class has no {@code toString()} of its own, or if that
 * depends on the JVM. Examples are the order of a set or map that is not sorted, and the
 * time zone in {@code java.sql.Date}.
 */
public final class KeyText {

	/**
	 * Whether a type is a record with the compiler's {@code toString()}, which is final.
	 */
	private static final ClassValue<Boolean> CONSISTS_OF_COMPONENTS = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			Method toString = ReflectionUtils.findMethod(type, "toString");
			return type.isRecord() && toString != null && Modifier.isFinal(toString.getModifiers());
		}

	};

	/** Local dates and times of JDBC, which is an optional module. */
	private static final Set<String> WITHOUT_INSTANT = Set.of("java.sql.Date", "java.sql.Time");

	private KeyText() {
	}

	/**
	 * Returns the text of a value.
	 * @param value the value
	 * @return the text, which may be blank
	 * @throws NotAKeyException if the value has no text that is the same in every JVM
	 */
	public static String of(@Nullable Object value) {
		if (value instanceof String text) {
			return text;
		}
		try {
			Object content = content(value);
			if (content == null) {
				throw new NotAKeyException(
						shared((value != null) ? "an empty " + value.getClass().getSimpleName() : "null"));
			}
			return text(content, false);
		}
		catch (StackOverflowError ex) {
			throw new NotAKeyException(
					"is or contains a value that contains itself, as an entity and its parent do, so its text has no end. Use a value that identifies it, such as its id");
		}
		catch (NotAKeyException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new NotAKeyException(
					"could not be converted to a text: %s. Use a value that identifies it, such as its id"
						.formatted(Failures.rootMessage(ex)),
					ex);
		}
	}

	/**
	 * Returns why no value of a type can be a key, as far as the declared type shows it.
	 * @param type the declared type
	 * @return the end of a sentence that starts with the key, or {@code null}
	 */
	public static @Nullable String problem(Class<?> type) {
		if (type.isPrimitive() || type.isInterface() || Modifier.isAbstract(type.getModifiers()) || type == Object.class
				|| Principal.class.isAssignableFrom(type)) {
			return null;
		}
		if (Map.class.isAssignableFrom(type) && !isSorted(type)) {
			return noOrder(type);
		}
		if (WITHOUT_INSTANT.contains(type.getName())) {
			return noInstant(type);
		}
		return IdentityText.isOnlyTextOf(type) ? noIdentity(type.getTypeName()) : null;
	}

	/**
	 * Returns why a text that all calls share cannot be a key.
	 * @param what the description of the key, such as {@code blank}
	 * @return the end of a sentence that starts with the key
	 */
	public static String shared(String what) {
		return "is " + what
				+ ", so unrelated calls would share one lock. Pass a value, or omit the key if all calls should share one lock";
	}

	/** Returns what a value contains, at any depth; {@code null} if it is empty. */
	private static @Nullable Object content(@Nullable Object boxed) {
		Object value = KotlinValues.unboxed(boxed);
		if (value instanceof Optional<?> optional) {
			return content(optional.orElse(null));
		}
		if (value instanceof OptionalLong optional) {
			return optional.isPresent() ? optional.getAsLong() : null;
		}
		if (value instanceof OptionalInt optional) {
			return optional.isPresent() ? optional.getAsInt() : null;
		}
		if (value instanceof OptionalDouble optional) {
			return optional.isPresent() ? optional.getAsDouble() : null;
		}
		Object inner = LeafText.content(value);
		return (inner != value) ? content(inner) : value;
	}

	private static String part(@Nullable Object value) {
		return text(value, true);
	}

	private static String text(@Nullable Object boxed, boolean part) {
		Object value = KotlinValues.unboxed(boxed);
		if (value == null) {
			return "null";
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Date date) {
			return instant(date);
		}
		if (value instanceof Calendar calendar) {
			return calendar.toInstant().toString();
		}
		if (value instanceof InetAddress || value instanceof InetSocketAddress) {
			return LeafText.address(value);
		}
		if (value instanceof Double || value instanceof Float) {
			return LeafText.number((Number) value);
		}
		if (value instanceof Optional<?> optional) {
			return optional.isPresent() ? "Optional[" + part(optional.get()) + "]" : optional.toString();
		}
		Object inner = LeafText.content(value);
		if (inner != value) {
			return text(inner, part);
		}
		String text = textOfParts(value);
		return (text != null) ? text : part ? LeafText.escaped(textOfItsOwn(value)) : textOfItsOwn(value);
	}

	private static String instant(Date date) {
		try {
			return date.toInstant().toString();
		}
		catch (UnsupportedOperationException ex) {
			throw new NotAKeyException(noInstant(date.getClass()));
		}
	}

	/** Returns the text of a value with parts; {@code null} for any other one. */
	private static @Nullable String textOfParts(Object value) {
		Class<?> type = value.getClass();
		if (value instanceof Collection<?> several) {
			requireOrder(type, value instanceof List || value instanceof Deque || isSorted(type));
			return joined("[", several, KeyText::part, "]");
		}
		if (type.isArray()) {
			return joined("[", Arrays.asList(ObjectUtils.toObjectArray(value)), KeyText::part, "]");
		}
		if (value instanceof Map<?, ?> entries) {
			requireOrder(type, isSorted(type));
			return joined("{", entries.entrySet(), KeyText::part, "}");
		}
		if (value instanceof Map.Entry<?, ?> entry) {
			return part(entry.getKey()) + "=" + part(entry.getValue());
		}
		if (CONSISTS_OF_COMPONENTS.get(type)) {
			return joined(type.getSimpleName() + "[", List.of(type.getRecordComponents()),
					(component) -> text(component, value), "]");
		}
		return null;
	}

	/**
	 * Also rejects a {@code toString()} that contains that of Object, for the value or
	 * for a part of it.
	 */
	private static String textOfItsOwn(Object value) {
		@Nullable String text = value.toString();
		if (text == null) {
			throw new NotAKeyException(
					shared("or contains a %s, whose text is null".formatted(value.getClass().getTypeName())));
		}
		if (IdentityText.isOnlyTextOf(value.getClass()) || (text.indexOf('@') >= 0
				&& text.contains('@' + Integer.toHexString(System.identityHashCode(value))))) {
			throw new NotAKeyException(noIdentity(value.getClass().getTypeName()));
		}
		// a text is what its author has written, and has no parts
		String part = (value instanceof String) ? null : IdentityText.find(text, value.getClass().getClassLoader());
		if (part != null) {
			throw new NotAKeyException(noIdentity(value.getClass().getTypeName() + " with a " + part));
		}
		return text;
	}

	private static <T> String joined(String start, Collection<T> parts, Function<T, String> text, String end) {
		return parts.stream().map(text).collect(Collectors.joining(", ", start, end));
	}

	private static String text(RecordComponent component, Object value) {
		ReflectionUtils.makeAccessible(component.getAccessor());
		return component.getName() + "=" + part(ReflectionUtils.invokeMethod(component.getAccessor(), value));
	}

	private static boolean isSorted(Class<?> type) {
		return SortedSet.class.isAssignableFrom(type) || SortedMap.class.isAssignableFrom(type)
				|| EnumSet.class.isAssignableFrom(type) || EnumMap.class.isAssignableFrom(type);
	}

	private static void requireOrder(Class<?> type, boolean ordered) {
		if (!ordered) {
			throw new NotAKeyException(noOrder(type));
		}
	}

	private static String noOrder(Class<?> type) {
		return "is or contains a %s (%s), whose order may differ between JVMs, so each JVM would use a different lock. Use a value that identifies it, such as an id, or a sorted copy (a TreeSet or TreeMap)"
			.formatted(Map.class.isAssignableFrom(type) ? "map" : "collection", type.getTypeName());
	}

	private static String noInstant(Class<?> type) {
		return "is or contains a %s, which depends on the time zone of the JVM. Use a LocalDate or LocalTime instead, for example from toLocalDate()"
			.formatted(type.getTypeName());
	}

	private static String noIdentity(String what) {
		return "is or contains a %s, whose only text is that of Object.toString(), so every call would use a different lock. Use a value that identifies it, such as its id"
			.formatted(what);
	}

	/**
	 * Thrown when a value has no text that is the same in every JVM. The message is the
	 * end of a sentence that starts with the key.
	 */
	public static final class NotAKeyException extends IllegalArgumentException {

		private static final long serialVersionUID = 1L;

		NotAKeyException(String message) {
			this(message, null);
		}

		NotAKeyException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
