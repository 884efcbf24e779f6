package io.holdfast.lock;

/**
 * Locks of things that contain others: whoever locks {@code orders/42} keeps away whoever
 * wants all {@code orders}, or the item {@code orders/42/7}, and nobody else.
 */
public final class LockHierarchy {

	private static final char SEPARATOR = '/';

	private LockHierarchy() {
	}

	/**
	 * A request for one place, with all defaults: shared on each of its parents and
	 * exclusive on itself, acquired from the top down. {@code orders/42/7} takes the
	 * locks {@code orders} and {@code orders:42} shared and {@code orders:42/7}
	 * exclusive.
	 * @param path the place: the lock's name and then its key, divided by slashes
	 * @return the request. Its store has to know {@link LockMode#SHARED}
	 */
	public static LockRequest request(String path) {
		int end = path.indexOf(SEPARATOR);
		if (end < 0) {
			return LockRequest.of(path);
		}
		String name = path.substring(0, end);
		String key = path.substring(end + 1);
		LockRequest.Builder request = LockRequest.forLock(LockName.of(name)).mode(LockMode.SHARED);
		for (int i = key.indexOf(SEPARATOR); i >= 0; i = key.indexOf(SEPARATOR, i + 1)) {
			request.and(LockName.of(name, key.substring(0, i)), LockMode.SHARED);
		}
		return request.and(LockName.of(name, key), LockMode.EXCLUSIVE).build();
	}

}
