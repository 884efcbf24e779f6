package io.holdfast.lock.backend.redis;

import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisNodeNotFoundException;
import org.redisson.client.RedisOutOfMemoryException;

/**
 * Tells what Redis refused for good from what nobody knows the outcome of.
 */
final class RedisErrors {

	/** The code of an answer; before Redis 7 an error inside a script hides it. */
	private static final Pattern CODE = Pattern
		.compile("^(?:ERR Error (?:running|compiling) script.*?-)?([A-Z]{2,})\\b");

	/** Answers that will be no in a second, too, and after which nothing was done. */
	private static final Set<String> DEFINITE = Set.of("NOAUTH", "WRONGPASS", "NOPERM", "OOM", "WRONGTYPE", "MISCONF",
			"ERR");

	private RedisErrors() {
	}

	/**
	 * What a stage failed of, without the wrappings of futures.
	 */
	static Throwable unwrap(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	/**
	 * Whether Redis does not remember the script, so that nothing of it has run.
	 */
	static boolean isScriptUnknown(Throwable failure) {
		return unwrap(failure) instanceof RedisNoScriptException;
	}

	/**
	 * Whether the request never left, or was refused before it did anything.
	 */
	static boolean isUnsent(Throwable failure) {
		return isScriptUnknown(failure) || unwrap(failure) instanceof RedisNodeNotFoundException;
	}

	/**
	 * The code of a definite refusal.
	 * @return the code, or {@code null} if the outcome is not known
	 */
	static @Nullable String definiteCode(Throwable failure) {
		int depth = 0;
		for (Throwable cause = unwrap(failure); cause != null && depth < 10; cause = cause.getCause(), depth++) {
			if (cause instanceof RedissonShutdownException) {
				return "SHUTDOWN";
			}
			if (cause instanceof RedisOutOfMemoryException) {
				return "OOM";
			}
			String code = code(cause);
			if (code != null && DEFINITE.contains(code) && !isPassing(cause)) {
				return code;
			}
		}
		return null;
	}

	private static @Nullable String code(Throwable cause) {
		if (!cause.getClass().getName().startsWith("org.redisson.client.") || cause.getMessage() == null) {
			return null;
		}
		Matcher matcher = CODE.matcher(cause.getMessage());
		return matcher.find() ? matcher.group(1) : null;
	}

	/** Answers under the general code that are over when the server has recovered. */
	private static boolean isPassing(Throwable cause) {
		return String.valueOf(cause.getMessage()).startsWith("ERR max number of clients");
	}

	/**
	 * What to do about a definite refusal.
	 */
	static String remedy(String code, String namespace) {
		return switch (code) {
			case "NOAUTH", "WRONGPASS" ->
				"Check username and password where this connection takes them from: 'distributed-lock.redis.*', 'spring.data.redis.*' or your RedissonClient.";
			case "NOPERM" ->
				"Give the user at least: ~%1$s:* &%1$s:* +@connection +eval +evalsha +get +set +del +pexpire +pexpireat +pttl +time +zadd +zrem +zrange +zremrangebyscore +zpopmin +publish +subscribe +unsubscribe (and +wait, if replicas are waited for)."
					.formatted(namespace);
			case "OOM" -> "Redis is full. Raise its 'maxmemory', or keep locks in a Redis of their own.";
			case "WRONGTYPE" ->
				"Something else uses a key of this lock. Set another 'distributed-lock.namespace' than '%s'."
					.formatted(namespace);
			case "MISCONF" -> "Redis accepts no writes. Its log says why; often its disk is full.";
			case "SHUTDOWN" -> "The Redis client has been shut down. Take no locks after the application has stopped.";
			default -> "Is this really a Redis (5 or later) with scripts allowed?";
		};
	}

	/**
	 * What Redis said, without the client's account of channels and parameters.
	 */
	static String said(Throwable failure) {
		Throwable cause = unwrap(failure);
		while (cause.getCause() != null && code(cause) == null && !(cause instanceof RedisOutOfMemoryException)) {
			cause = cause.getCause();
		}
		String message = String.valueOf(cause.getMessage());
		for (String end : new String[] { ". channel:", " script:" }) {
			int at = message.indexOf(end);
			message = (at > 0) ? message.substring(0, at) : message;
		}
		return message;
	}

}
