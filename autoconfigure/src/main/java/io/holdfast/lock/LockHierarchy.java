package io.holdfast.lock;

/**
 * Creates requests for resources that contain others. A holder of {@code orders/42}
 * excludes holders of all {@code orders} and of the item {@code orders/42/7}, but no
 * others.
 */
public final class LockHierarchy {

	private static final char SEPARATOR = '/';

	private LockHierarchy() {
	}

	/**
	 * Creates a request for one resource, with all defaults. The request locks each
	 * parent in shared mode and the resource itself exclusively, from the top down. For
	 * example, {@code orders/42/7} acquires the locks {@code orders} and
	 * {@code orders:42} shared and {@code orders:42/7} exclusively.
	 * @param path the path of the resource: the lock's name and then its key, separated
	 * by slashes
	 * @return the request; its store must support {@link LockMode#SHARED}
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
