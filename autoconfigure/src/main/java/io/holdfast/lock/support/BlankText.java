package io.holdfast.lock.support;

/**
 * Detects texts that a reader cannot tell from an empty one.
 */
public final class BlankText {

	private BlankText() {
	}

	/**
	 * Returns whether a text has no visible character. Unlike {@link String#isBlank()},
	 * this includes spaces that do not break a line, such as U+00A0, and invisible format
	 * characters, such as U+200B and U+FEFF. Control characters count as visible, because
	 * messages escape them.
	 * @param text the text
	 * @return whether it is empty or blank
	 */
	public static boolean isBlank(String text) {
		for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
			if (!isInvisible(text.codePointAt(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isInvisible(int character) {
		return Character.isWhitespace(character) || Character.isSpaceChar(character)
				|| Character.getType(character) == Character.FORMAT;
	}

}
