package io.holdfast.lock.backend.redis;

import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * Recognizes the exceptions of the Redis client libraries. It compares names, because
 * each of the libraries may be absent from the class path.
 */
final class ClientFailures {

	private static final String REDISSON = "org.redisson.client.";

	private static final String LETTUCE = "io.lettuce.core.";

	private ClientFailures() {
	}

	/**
	 * Returns the message of an exception if it may be that of the server, otherwise
	 * {@code null}.
	 */
	static @Nullable String reply(Throwable failure) {
		String name = failure.getClass().getName();
		return (name.startsWith(REDISSON) || name.startsWith(LETTUCE)) ? failure.getMessage() : null;
	}

	/** Whether the server does not know the digest of a script. */
	static boolean isScriptUnknown(Throwable failure) {
		return is(failure, REDISSON + "RedisNoScriptException", LETTUCE + "RedisNoScriptException");
	}

	/** Whether the server has no memory left. Redisson removes the code. */
	static boolean isOutOfMemory(Throwable failure) {
		return is(failure, REDISSON + "RedisOutOfMemoryException");
	}

	/** Whether the client was shut down before the request. */
	static boolean isShutdown(Throwable failure) {
		return failure instanceof ClientClosedException || is(failure, "org.redisson.RedissonShutdownException");
	}

	/** Whether no response arrived in time. */
	static boolean isTimeout(Throwable failure) {
		return failure instanceof TimeoutException
				|| is(failure, REDISSON + "RedisTimeoutException", LETTUCE + "RedisCommandTimeoutException");
	}

	/** Compares with subclasses too. */
	private static boolean is(Throwable failure, String... names) {
		for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
			for (String name : names) {
				if (name.equals(type.getName())) {
					return true;
				}
			}
		}
		return false;
	}

}
