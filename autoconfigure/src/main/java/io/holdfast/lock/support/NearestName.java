package io.holdfast.lock.support;

import java.util.Collection;

import org.jspecify.annotations.Nullable;

/**
 * Finds the known name that was probably intended by an unknown one.
 */
public final class NearestName {

	/** The maximum number of edits between similar names. */
	private static final int MOST_EDITS = 2;

	private NearestName() {
	}

	/**
	 * Returns the known name that needs the fewest edits.
	 * @param name the unknown name
	 * @param known the known names
	 * @return the nearest name, or {@code null} if none is similar
	 */
	public static @Nullable String of(String name, Collection<String> known) {
		String nearest = null;
		int fewest = MOST_EDITS + 1;
		for (String candidate : known) {
			int edits = edits(name, candidate);
			if (edits < fewest) {
				fewest = edits;
				nearest = candidate;
			}
		}
		return nearest;
	}

	/** Returns the Levenshtein distance. */
	private static int edits(String from, String to) {
		int[] previous = new int[to.length() + 1];
		for (int j = 0; j <= to.length(); j++) {
			previous[j] = j;
		}
		for (int i = 1; i <= from.length(); i++) {
			int[] current = new int[to.length() + 1];
			current[0] = i;
			for (int j = 1; j <= to.length(); j++) {
				int replaced = previous[j - 1] + ((from.charAt(i - 1) == to.charAt(j - 1)) ? 0 : 1);
				current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
			}
			previous = current;
		}
		return previous[to.length()];
	}

}
