package io.holdfast.lock.support;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Splits lists into batches.
 */
public final class Batches {

	private Batches() {
	}

	/**
	 * Splits a list into consecutive batches.
	 * @param all the list
	 * @param size the size of each batch except the last, which may be smaller
	 * @param <T> the type of an element
	 * @return views of the list, none of them empty
	 */
	public static <T> List<List<T>> of(List<T> all, int size) {
		return IntStream.iterate(0, (from) -> from < all.size(), (from) -> from + size)
			.mapToObj((from) -> all.subList(from, Math.min(from + size, all.size())))
			.toList();
	}

}
