package io.holdfast.lock.support;

import org.jspecify.annotations.Nullable;

/**
 * Finds the root cause of a failure beneath the wrappers of the libraries that report it.
 */
public final class Failures {

	private static final int DEEPEST = 50;

	private Failures() {
	}

	/**
	 * Returns a description of the root cause.
	 * @param failure the failure
	 * @return the simple class name and message of the root cause, such as
	 * {@code ConnectException: Connection refused}
	 */
	public static String rootMessage(Throwable failure) {
		Throwable root = root(failure);
		@Nullable String message = root.getMessage();
		String type = root.getClass().getSimpleName();
		return (message != null && !message.isBlank()) ? type + ": " + message : type;
	}

	private static Throwable root(Throwable failure) {
		Throwable root = failure;
		for (int depth = 0; depth < DEEPEST; depth++) {
			Throwable cause = root.getCause();
			if (cause == null) {
				break;
			}
			root = cause;
		}
		return root;
	}

}
