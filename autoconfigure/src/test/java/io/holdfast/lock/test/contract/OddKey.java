package io.holdfast.lock.test.contract;

import java.util.List;

import io.holdfast.lock.LockName;

/**
 * Keys that a store may not handle correctly, due to its separators, its quoting, or the
 * length or collation of a column.
 */
enum OddKey {

	UNICODE("żółć-鍵-\uD83D\uDD12"),

	LONGEST("x".repeat(LockName.MAX_KEY_LENGTH)),

	LONGEST_OF_WIDE_CHARACTERS("鍵".repeat(LockName.MAX_KEY_LENGTH)),

	QUOTES("it's a \"key\" with `quotes`"),

	BRACES("{a}{b}}{"),

	BACKSLASH("a\\b\\"),

	SLASHES("/a//b/../c/"),

	DOTS(".."),

	SPACES(" a  b "),

	COLON(":a::b:"),

	GLOB("*?[a-z]%_"),

	NEWLINE("a\nb\r\n\tc"),

	CONTROL("a\u0000b\u0001c");

	private final String text;

	OddKey(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

	/**
	 * Returns keys that some comparisons treat as equal. They have the same hash code, or
	 * differ only in case, accents, Unicode normalization form, a trailing space, or the
	 * last character.
	 */
	static List<String> alike(String prefix) {
		String filler = "x".repeat(LockName.MAX_KEY_LENGTH - prefix.length() - 1);
		return List.of(prefix + "Aa", prefix + "BB", prefix + "aa", prefix + "é", prefix + "e", prefix + "e\u0301",
				prefix + "É", prefix, prefix + " ", prefix + "/", prefix + ":", prefix + filler + "1",
				prefix + filler + "2");
	}

}
