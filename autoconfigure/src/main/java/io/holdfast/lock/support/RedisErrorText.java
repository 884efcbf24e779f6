package io.holdfast.lock.support;

import java.util.regex.Pattern;

/**
 * The text of an error of Redis, as its clients report it.
 */
public final class RedisErrorText {

	/**
	 * What Redis 7 appends to an error of a script, and what Redisson appends to each
	 * error: its channel, and the command with the state of all its parameters.
	 */
	private static final Pattern DETAILS = Pattern.compile(
			"[.,;]*(?: script: \\w+, on @| channel: \\[id: | command: \\(\\w+\\), params: ).*",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private RedisErrorText() {
	}

	/**
	 * Omits the details that Redis and its clients append to an error. They hide the
	 * remedy that follows, and the parameters may be secret.
	 * @param message the message of an exception, perhaps not from Redis
	 * @return the message without them and without a final period
	 */
	public static String withoutDetails(String message) {
		return Failures.withoutPeriod(DETAILS.matcher(message).replaceFirst(""));
	}

}
