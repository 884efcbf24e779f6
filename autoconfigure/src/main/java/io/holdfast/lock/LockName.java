package io.holdfast.lock;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.BlankText;
import io.holdfast.lock.support.KeyText;

/**
 * The identity of a lock. It consists of a fixed {@code name} such as {@code stock}, and
 * an optional evaluated {@code key} such as {@code 42} for one resource of that kind. Two
 * lock names denote the same lock if, and only if, they are equal.
 *
 * <p>
 * The name has few values and is safe as a meter tag. The key may have millions of values
 * and never becomes a tag.
 *
 * @param name the fixed part: letters, digits, {@code _}, {@code -}, {@code .} and
 * {@code /}, at most 100 characters. It contains no colon, so that {@link #id()} is
 * unambiguous
 * @param key the evaluated part, or {@code null} for the single lock of that name. Any
 * text that is not blank and contains no unpaired surrogate, at most
 * {@value #MAX_KEY_LENGTH} characters
 */
public record LockName(String name, @Nullable String key) implements Comparable<LockName> {

	/** The maximum length of a key in characters. */
	public static final int MAX_KEY_LENGTH = 512;

	private static final char LINE_SEPARATOR = 0x2028;

	private static final char PARAGRAPH_SEPARATOR = 0x2029;

	private static final int MAX_NAME_LENGTH = 100;

	/**
	 * Validates both parts.
	 * @throws LockConfigurationException if the name or the key does not have the
	 * described form
	 */
	public LockName {
		require(name != null && isName(name), () -> "Lock name '" + name
				+ "' is not valid. Use 1 to 100 letters, digits, '_', '-', '.' or '/', and put the variable part into the key.");
		if (key != null) {
			require(!BlankText.isBlank(key), () -> "The key of lock '" + name
					+ "' is blank, so all callers would share one lock. Pass a non-blank key, or omit it.");
			require(key.length() <= MAX_KEY_LENGTH,
					() -> "The key of lock '" + name + "' has " + key.length() + " characters, but the maximum is "
							+ MAX_KEY_LENGTH + ". Use a shorter key, such as an id or a digest.");
			require(!hasHalfOfAPair(key), () -> "The key of lock '" + name
					+ "' contains an unpaired surrogate, which no store can keep, so different keys would be one lock. Fix the code that truncates the text, or use an id.");
		}
	}

	/** Each request checks its name, so this does without a regular expression. */
	private static boolean isName(String name) {
		int length = 0;
		for (int i = 0; i < name.length(); i += Character.charCount(name.codePointAt(i))) {
			if (++length > MAX_NAME_LENGTH || !isPartOfName(name.codePointAt(i))) {
				return false;
			}
		}
		return length > 0;
	}

	private static boolean isPartOfName(int character) {
		return switch (Character.getType(character)) {
			case Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
			default -> Character.isLetterOrDigit(character) || "_./-".indexOf(character) >= 0;
		};
	}

	/**
	 * Finds surrogates that are code points of their own because their other half is
	 * missing.
	 */
	private static boolean hasHalfOfAPair(String key) {
		for (int i = 0; i < key.length(); i += Character.charCount(key.codePointAt(i))) {
			int point = key.codePointAt(i);
			if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
				return true;
			}
		}
		return false;
	}

	private static void require(boolean valid, Supplier<String> message) {
		if (!valid) {
			throw new LockConfigurationException(message.get());
		}
	}

	/**
	 * Returns the single lock of a name.
	 * @param name the fixed part
	 * @return the lock's name, without a key
	 */
	public static LockName of(String name) {
		return new LockName(name, null);
	}

	/**
	 * Returns the lock of one resource of a kind.
	 * @param name the fixed part
	 * @param key the identity of the resource; its text becomes the key, as in
	 * {@link DistributedLock#key()}
	 * @return the lock's name
	 * @throws LockConfigurationException if the name is not valid, or the key is
	 * {@code null}, blank, too long or has no text that is the same in every JVM
	 */
	public static LockName of(String name, Object key) {
		require(key != null, () -> "The key of lock '" + name
				+ "' is null, so all callers without a key would share one lock. Pass a non-null key, or omit it.");
		try {
			return new LockName(name, KeyText.of(key));
		}
		catch (KeyText.NotAKeyException ex) {
			throw new LockConfigurationException("The key of lock '" + name + "' " + ex.getMessage() + ".",
					ex.getCause());
		}
	}

	/**
	 * Returns the lock whose text is given, as users, logs and stores write it.
	 * @param text the name, or the name and the key separated by the first colon
	 * @return the lock's name, whose {@link #id()} is the text
	 * @throws LockConfigurationException if the name or the key is not valid
	 */
	public static LockName parse(String text) {
		int colon = text.indexOf(':');
		return (colon < 0) ? new LockName(text, null)
				: new LockName(text.substring(0, colon), text.substring(colon + 1));
	}

	/**
	 * Orders locks so that all callers acquire several locks in the same order.
	 */
	@Override
	public int compareTo(LockName other) {
		return (this != other) ? id().compareTo(other.id()) : 0;
	}

	/**
	 * Returns the lock in the form that users and stores write: {@code stock:42}, or
	 * {@code stock} without a key. Equal texts denote the same lock.
	 * @return the text, which contains every character of the key
	 */
	public String id() {
		return (this.key != null) ? this.name + ":" + this.key : this.name;
	}

	/**
	 * Returns the {@link #id()} for messages and logs: control characters, such as line
	 * breaks, are escaped, so that no key can forge a line of a log.
	 */
	@Override
	public String toString() {
		String id = id();
		return hasControl(id) ? escaped(id) : id;
	}

	/**
	 * A loop: every observation contains this text, and a stream costs more than all of
	 * it.
	 */
	private static boolean hasControl(String id) {
		for (int i = 0; i < id.length(); i++) {
			if (isControl(id.charAt(i))) {
				return true;
			}
		}
		return false;
	}

	private static boolean isControl(int character) {
		return Character.isISOControl(character) || character == LINE_SEPARATOR || character == PARAGRAPH_SEPARATOR;
	}

	private static String escaped(String id) {
		StringBuilder text = new StringBuilder(id.length());
		id.chars().forEach((character) -> {
			if (isControl(character)) {
				text.append(String.format("\\u%04x", character));
			}
			else {
				text.append((char) character);
			}
		});
		return text.toString();
	}

}
